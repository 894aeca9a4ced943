/** The page in the window: the same requests over the bridge, in process. */
import { Channel, invoke } from "@tauri-apps/api/core";
import type { Host, ShellState } from "./host";

type Part = { part: "head"; status: number; content_type: string } | { part: "chunk"; text: string } | { part: "end" };

/** A name that never leaves the window; the bridge takes path and query only. */
const ORIGIN = "http://headgate.invalid";
/** Answers that have no body, not even an empty one. */
const BODILESS = [204, 205, 304];

let last = 0;

async function send(request: Request): Promise<Response> {
  const id = ++last;
  const url = new URL(request.url);
  const encoder = new TextEncoder();
  const body = (await request.text()) || null;
  request.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let chunks!: ReadableStreamDefaultController<Uint8Array>;
    let open = true;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => void (chunks = controller),
      cancel: stop,
    });
    function stop(): void {
      open = false;
      void invoke("admin_stop", { id });
    }
    function fail(why: unknown): void {
      if (open) chunks.error(why);
      open = false;
      reject(why instanceof Error ? why : new TypeError(String(why)));
    }
    request.signal.addEventListener("abort", () => {
      if (!open) return;
      fail(request.signal.reason);
      stop();
    });
    const channel = new Channel<Part>((part) => {
      if (!open) return;
      if (part.part === "head") {
        const headers = { "content-type": part.content_type || "application/json" };
        resolve(new Response(BODILESS.includes(part.status) ? null : stream, { status: part.status, headers }));
      } else if (part.part === "chunk") {
        chunks.enqueue(encoder.encode(part.text));
      } else {
        open = false;
        chunks.close();
      }
    });
    const sent = {
      method: request.method,
      path: url.pathname + url.search,
      body,
      content_type: request.headers.get("content-type"),
    };
    invoke("admin_request", { id, request: sent, channel }).catch(fail);
  });
}

export const desktopHost: Host = {
  kind: "desktop",
  adminUrl: `${ORIGIN}/admin/v1`,
  fetch: send,
  save: (path, name) => invoke("save_file", { path: `/admin/v1${path}`, name }),
  openExternal: (url) => invoke("open_external", { url }),
  shell: {
    watch: (onState) => void invoke("shell_state", { channel: new Channel<ShellState>(onState) }),
    retry: () => invoke("shell_retry"),
    useAddress: (address) => invoke("shell_use_address", { address }),
    unseal: (passphrase) => invoke("shell_unseal", { passphrase }),
    language: (code) => invoke("shell_language", { language: code }),
    notices: () => invoke("shell_notices"),
    setNotice: (notice, on) => invoke("shell_set_notice", { notice, on }),
  },
};
