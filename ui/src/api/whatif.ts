/** Recorded traffic through another configuration. */
import { host } from "@/host";
import { api, take, type Schemas } from "./client";
import { ApiFailure } from "./failure";

export type Comparison = Schemas["Comparison"];
export type Figures = Schemas["ReplayFigures"];

/** With a configuration file. */
export async function whatIfFile(text: string, prune: boolean): Promise<Comparison> {
  const request = new Request(`${host.adminUrl}/whatif?prune=${prune}`, {
    method: "POST",
    headers: { "content-type": "application/yaml" },
    body: text,
  });
  const response = await host.fetch(request).catch((why: unknown) => {
    throw ApiFailure.unreachable(why);
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiFailure.of(response.status, body);
  return body as Comparison;
}

/** With one group changed by a merge patch. */
export async function whatIfGroup(id: number, patch: Record<string, unknown>): Promise<Comparison> {
  return take(api.POST("/groups/{id}/whatif", { params: { path: { id } }, body: patch as Record<string, never> }));
}
