/** Recorded traffic through another configuration. */
import { api, take, type Schemas } from "./client";
import { sendFile } from "./configuration";

export type Comparison = Schemas["Comparison"];
export type Figures = Schemas["ReplayFigures"];

/** With a configuration file. */
export function whatIfFile(text: string, prune: boolean): Promise<Comparison> {
  return sendFile(`/whatif?prune=${prune}`, text);
}

/** With one group changed by a merge patch. */
export async function whatIfGroup(id: number, patch: Record<string, unknown>): Promise<Comparison> {
  return take(api.POST("/groups/{id}/whatif", { params: { path: { id } }, body: patch as Record<string, never> }));
}
