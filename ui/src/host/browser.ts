/** The page in a browser: the admin API over HTTP with the session token. */
import type { Host } from "./host";
import { endSession, sessionToken } from "./session";

const adminUrl = new URL("/admin/v1", location.origin).href;

async function send(request: Request): Promise<Response> {
  if (sessionToken.value) request.headers.set("authorization", `Bearer ${sessionToken.value}`);
  const response = await fetch(request);
  if (response.status === 401) endSession();
  return response;
}

async function save(path: string, name: string): Promise<void> {
  const response = await send(new Request(adminUrl + path));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const browserHost: Host = {
  kind: "browser",
  adminUrl,
  fetch: send,
  save,
  openExternal(url) {
    window.open(url, "_blank", "noopener,noreferrer");
    return Promise.resolve();
  },
  shell: null,
};
