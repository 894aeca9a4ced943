/** The configuration as a file. */
import { host } from "@/host";
import { api, take } from "./client";
import { ApiFailure } from "./failure";
import type { Schemas } from "./client";

export type Applied = Schemas["Applied"];

export async function exportConfiguration(): Promise<string> {
  return take(api.GET("/export", { parseAs: "text" }));
}

export function saveConfiguration(): Promise<void> {
  return host.save("/export", "headgate.yaml");
}

/** With `dryRun` only what would change is told. */
export async function applyConfiguration(text: string, options: { dryRun: boolean; prune: boolean }): Promise<Applied> {
  const query = new URLSearchParams({ dry_run: String(options.dryRun), prune: String(options.prune) });
  return sendFile<Applied>(`/apply?${query}`, text);
}

/** Sends a configuration file; the answer is JSON. */
export async function sendFile<T>(path: string, text: string): Promise<T> {
  const request = new Request(`${host.adminUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/yaml" },
    body: text,
  });
  const response = await host.fetch(request).catch((why: unknown) => {
    throw ApiFailure.unreachable(why);
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiFailure.of(response.status, body);
  return body as T;
}
