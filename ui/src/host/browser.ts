/** The page in a browser: the admin API over HTTP with the session token. */
import { frames } from "./frames";
import type { Host } from "./host";
import { endSession, sessionToken } from "./session";

const adminUrl = new URL("/admin/v1", location.origin).href;

async function send(request: Request): Promise<Response> {
  if (sessionToken.value) request.headers.set("authorization", `Bearer ${sessionToken.value}`);
  const response = await fetch(request);
  if (response.status === 401) endSession();
  return response;
}

export const browserHost: Host = {
  kind: "browser",
  adminUrl,
  fetch: send,
  async events(onEvent, opened, signal) {
    const response = await send(new Request(`${adminUrl}/events`, { signal }));
    if (!response.ok || !response.body) throw new Error(`events: ${response.status}`);
    opened();
    for await (const event of frames(response.body)) onEvent(event);
  },
  shell: () => Promise.resolve(null),
  retryStart: () => Promise.resolve(),
  openExternal(url) {
    window.open(url, "_blank", "noopener,noreferrer");
    return Promise.resolve();
  },
};
