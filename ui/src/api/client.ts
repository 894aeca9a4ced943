/** The admin API, typed by its own description. */
import createClient from "openapi-fetch";
import { frames, host } from "@/host";
import { ApiFailure } from "./failure";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

export const api = createClient<paths>({ baseUrl: host.adminUrl, fetch: (request) => host.fetch(request) });

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a call; everything else is thrown as an `ApiFailure`. */
export async function take<T>(call: Promise<Outcome<T>>): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await call;
  } catch (why) {
    if (why instanceof DOMException && why.name === "AbortError") throw why;
    throw ApiFailure.unreachable(why);
  }
  if (!outcome.response.ok) throw ApiFailure.of(outcome.response.status, outcome.error);
  return outcome.data as T;
}

/** A call whose answer is a stream of steps. */
export async function* steps<T>(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<T> {
  const request = new Request(host.adminUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  const response = await host.fetch(request).catch((why: unknown) => {
    throw ApiFailure.unreachable(why);
  });
  if (!response.ok || !response.body) {
    throw ApiFailure.of(response.status, await response.json().catch(() => null));
  }
  for await (const step of frames(response.body)) yield step as T;
}
