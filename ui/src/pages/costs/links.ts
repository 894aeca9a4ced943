/** From a figure to the requests it came from. */
import type { RouteLocationRaw } from "vue-router";
import type { Costs, SpendBy, SpendRow } from "@/api/costs";

type Narrow = Partial<Record<SpendBy, string | number | null | undefined>>;

/** The requests of the time of these figures. */
export function requestsOf(costs: Pick<Costs, "from" | "to">, narrow: Narrow = {}): RouteLocationRaw {
  const query: Record<string, string> = { from: costs.from, to: costs.to };
  for (const [name, value] of Object.entries(narrow)) {
    if (value !== null && value !== undefined) query[name] = encodeURIComponent(String(value));
  }
  return { name: "requests", query };
}

/** Those of a row; none where nothing was named, which no filter finds. */
export function requestsOfRow(costs: Costs, row: SpendRow): RouteLocationRaw | undefined {
  const value = costs.by === "model" ? row.name : row.id;
  return value === null || value === undefined ? undefined : requestsOf(costs, { [costs.by]: value });
}
