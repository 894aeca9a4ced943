/** The page in the window: the same requests over the bridge, in process. */
import { Channel, invoke } from "@tauri-apps/api/core";
import type { Host, ShellInfo } from "./host";

interface Answer {
  status: number;
  content_type: string | null;
  body: string;
}

/** A name that never leaves the window; the bridge takes path and query only. */
const ORIGIN = "http://headgate.invalid";

async function send(request: Request): Promise<Response> {
  const url = new URL(request.url);
  const answer = await invoke<Answer>("admin_request", {
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1) || null,
    body: (await request.text()) || null,
    contentType: request.headers.get("content-type"),
  });
  const headers = new Headers({ "content-type": answer.content_type ?? "application/json" });
  return new Response(answer.status === 204 ? null : answer.body, { status: answer.status, headers });
}

export const desktopHost: Host = {
  kind: "desktop",
  adminUrl: `${ORIGIN}/admin/v1`,
  fetch: send,
  async events(onEvent, opened, signal) {
    const channel = new Channel<unknown>();
    channel.onmessage = onEvent;
    await invoke("admin_events", { channel });
    opened();
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    channel.onmessage = () => undefined;
  },
  shell: () => invoke<ShellInfo>("shell_info"),
  retryStart: () => invoke("shell_retry"),
  openExternal: (url) => invoke("open_external", { url }),
};
