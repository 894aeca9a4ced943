/** What the page needs from whatever shows it: the desktop window or a browser. */

/** What kept the gateway from starting. */
export type StartProblemKind = "port" | "database" | "vault" | "data_dir" | "configuration";

/** The gateway did not start in the window. */
export interface StartFailure {
  state: "failed";
  problem: StartProblemKind;
  /** A sentence with cause and remedy. */
  message: string;
  /** Secrets may go into a file sealed with a passphrase instead. */
  can_seal: boolean;
  /** There is such a file already: its passphrase is asked for. */
  sealed: boolean;
  /** An address beside the one that is taken. */
  free_address: string | null;
}

/** The window's shell and where the gateway in it is. */
export type ShellState = { version: string; tray: boolean } & (
  | { state: "starting"; line: string | null }
  | { state: "running"; address: string }
  | { state: "stopping" }
  | StartFailure
);

export interface Host {
  readonly kind: "desktop" | "browser";
  /** Absolute address of the admin API; in the window it is only a name. */
  readonly adminUrl: string;
  /** Sends a request to the admin API; its answer may go on. */
  fetch(request: Request): Promise<Response>;
  /** Saves an answer of the admin API (a path under it) as a file of this name, where the person wants it. */
  save(path: string, name: string): Promise<void>;
  /** Opens an address in the person's own browser. */
  openExternal(url: string): Promise<void>;
  /** The window's shell; absent in a browser. */
  readonly shell: Shell | null;
}

/** What the desktop can show a notice of, in the order in which it matters. */
export const NOTICES = [
  "group",
  "upstream_opened",
  "upstream_closed",
  "credential",
  "model",
  "budget",
  "balance",
  "billing",
] as const;
export type Notice = (typeof NOTICES)[number];

export interface Shell {
  /** Tells the state, now and whenever it changes. */
  watch(onState: (state: ShellState) => void): void;
  /** Starts the gateway again. */
  retry(): Promise<void>;
  /** Starts the gateway on the address that was offered, and keeps that. */
  useAddress(address: string): Promise<void>;
  /** Starts the gateway with its secrets in a file sealed with this passphrase. */
  unseal(passphrase: string): Promise<void>;
  /** The language of the shell's own menus. */
  language(code: string): Promise<void>;
  /** What the desktop shows a notice of. */
  notices(): Promise<Notice[]>;
  /** Switches one; gives what is shown from now on. */
  setNotice(notice: Notice, on: boolean): Promise<Notice[]>;
}
