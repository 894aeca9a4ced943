/** What the page needs from whatever shows it: the desktop window or a browser. */

/** What stopped the gateway from starting in the window. */
export interface StartProblem {
  kind: "port" | "database" | "vault" | "data_dir";
  message: string;
  remedy: string;
}

export interface ShellInfo {
  desktop: boolean;
  tray: boolean;
  version: string;
  problem?: StartProblem;
}

export interface Host {
  readonly kind: "desktop" | "browser";
  /** Absolute address of the admin API; in the window it is only a name. */
  readonly adminUrl: string;
  /** Sends a request to the admin API. */
  fetch(request: Request): Promise<Response>;
  /** Live events until `signal` fires or the stream ends; `opened` once they flow. Rejects when it cannot be opened. */
  events(onEvent: (event: unknown) => void, opened: () => void, signal: AbortSignal): Promise<void>;
  /** The window's shell; `null` in a browser. */
  shell(): Promise<ShellInfo | null>;
  /** Tries to start the gateway again. */
  retryStart(): Promise<void>;
  /** Opens an address in the person's own browser. */
  openExternal(url: string): Promise<void>;
}
