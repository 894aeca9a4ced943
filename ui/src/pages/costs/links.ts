/** From a figure to the rows it came from. */
import type { RouteLocationRaw } from "vue-router";
import type { Costs, SpendBy, SpendRow } from "@/api/costs";

type Narrow = Partial<Record<SpendBy | "priced" | "tokens" | "without", string | number | null | undefined>>;

function narrowed(query: Record<string, string>, narrow: Narrow): RouteLocationRaw {
  for (const [name, value] of Object.entries(narrow)) {
    if (value !== null && value !== undefined) query[name] = encodeURIComponent(String(value));
  }
  return { name: "requests", query };
}

/** The requests of the time of these figures. */
export function requestsOf(time: Pick<Costs, "from" | "to">, narrow: Narrow = {}): RouteLocationRaw {
  return narrowed({ from: time.from, to: time.to }, narrow);
}

/** The requests that ended in a time: that is when bills count them. */
export function requestsEnded(time: Pick<Costs, "from" | "to">, narrow: Narrow = {}): RouteLocationRaw {
  return narrowed({ ended_from: time.from, ended_to: time.to }, narrow);
}

/** Those of a row, named or not. */
export function requestsOfRow(costs: Costs, row: SpendRow, narrow: Narrow = {}): RouteLocationRaw {
  const value = costs.by === "model" ? row.name : row.id;
  return requestsOf(costs, { [value == null ? "without" : costs.by]: value ?? costs.by, ...narrow });
}

/** An upstream's readings, of the same window. */
export function readingsOf(upstream: number, query: Record<string, unknown> = {}): RouteLocationRaw {
  return { name: "costs", params: { id: String(upstream) }, query: query as Record<string, string> };
}

/** The price that a model is found under. */
export function priceOf(model: string): RouteLocationRaw {
  return { name: "settings", params: { section: "prices" }, query: { model } };
}
