import type { UpstreamHealth } from "@/api/types";

/** Successes as a share of the results of the last hour; `null` without results. */
export function successRate(health: UpstreamHealth): number | null {
  return health.results > 0 ? health.successes / health.results : null;
}
