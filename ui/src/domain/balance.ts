/** Who tells what is left, and who does not. */
import type { Costs, UpstreamCosts } from "@/api/costs";

export function withoutBalance(costs: Costs): UpstreamCosts[] {
  const known = new Set(costs.balances.flatMap((balance) => balance.upstreams));
  return costs.upstreams.filter((upstream) => !known.has(upstream.upstream_id));
}
