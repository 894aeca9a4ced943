/** Money: what was spent, what is left, and whether it was charged as said. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, onScopeDispose, toValue, type MaybeRefOrGetter } from "vue";
import { host } from "@/host";
import { onFeed } from "@/live/feed";
import { api, take, type Schemas } from "./client";
import type { paths } from "./schema";

export type Costs = Schemas["Costs"];
export type SpendBy = Schemas["SpendBy"];
export type SpendRow = Schemas["SpendRow"];
export type CostSpan = NonNullable<NonNullable<paths["/costs"]["get"]["parameters"]["query"]>["window"]>;
export type GroupElsewhere = Schemas["GroupElsewhere"];
export type UpstreamCosts = Schemas["UpstreamCosts"];
export type Comparison = Schemas["CostComparison"];
export type FigurePair = Schemas["FigurePair"];
export type PartElsewhere = Schemas["PartElsewhere"];
type ChargesQuery = NonNullable<paths["/costs/{upstream}/charges"]["get"]["parameters"]["query"]>;
export type WhichCharges = NonNullable<ChargesQuery["which"]>;
export type VerdictSpan = NonNullable<ChargesQuery["window"]>;

/** Money changes with every request: it is asked for again at most this often. */
const REST_MS = 10_000;

/** Of a window that ends now. */
export function useCosts(window: MaybeRefOrGetter<CostSpan>, by: MaybeRefOrGetter<SpendBy>) {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: computed(() => ["costs", toValue(window), toValue(by)]),
    queryFn: ({ signal }) =>
      take(api.GET("/costs", { params: { query: { window: toValue(window), by: toValue(by) } }, signal })),
    placeholderData: keepPreviousData,
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = onFeed((event) => {
    if (event.type !== "requests_stored" || timer) return;
    const rest = Math.max(0, query.dataUpdatedAt.value + REST_MS - Date.now());
    timer = setTimeout(() => {
      timer = undefined;
      void client.invalidateQueries({ queryKey: ["costs"] });
    }, rest);
  });
  onScopeDispose(() => {
    release();
    clearTimeout(timer);
  });
  return query;
}

/** What each group's traffic would have cost at each of its members alone. */
export function useElsewhere(window: MaybeRefOrGetter<CostSpan>) {
  return useQuery({
    queryKey: computed(() => ["costs", "elsewhere", toValue(window)]),
    queryFn: ({ signal }) =>
      take(api.GET("/costs/elsewhere", { params: { query: { window: toValue(window) } }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** What an upstream said of itself, snapshot by snapshot, with our own calls in between; 500 to a page. */
export function useFigures(
  upstream: MaybeRefOrGetter<number>,
  window: MaybeRefOrGetter<CostSpan>,
  page: MaybeRefOrGetter<number>,
) {
  return useQuery({
    queryKey: computed(() => ["costs", "figures", toValue(upstream), toValue(window), toValue(page)]),
    queryFn: ({ signal }) => {
      const query = { window: toValue(window), page: toValue(page) };
      const params = { path: { upstream: toValue(upstream) }, query };
      return take(api.GET("/costs/{upstream}/figures", { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** Single charges against single requests, 50 to a page. */
export function useCharges(
  upstream: MaybeRefOrGetter<number>,
  window: MaybeRefOrGetter<VerdictSpan>,
  which: MaybeRefOrGetter<WhichCharges>,
  page: MaybeRefOrGetter<number>,
) {
  return useQuery({
    queryKey: computed(() => ["costs", "charges", toValue(upstream), toValue(window), toValue(which), toValue(page)]),
    queryFn: ({ signal }) => {
      const query = { window: toValue(window), which: toValue(which), page: toValue(page) };
      const params = { path: { upstream: toValue(upstream) }, query };
      return take(api.GET("/costs/{upstream}/charges", { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** Asks the upstream now; what went wrong is told in the answer. */
export function collectBilling(id: number) {
  return take(api.POST("/upstreams/{id}/billing/refresh", { params: { path: { id } } }));
}

export function setMultiplier(id: number, multiplier: string) {
  return take(api.PUT("/upstreams/{id}/billing/multiplier", { params: { path: { id } }, body: { multiplier } }));
}

export function unsetMultiplier(id: number) {
  return take(api.DELETE("/upstreams/{id}/billing/multiplier", { params: { path: { id } } }));
}

/** The evidence of an upstream's comparison, as a file with a checksum. */
export function saveEvidence(upstream: number, window: CostSpan, format: "csv" | "json"): Promise<void> {
  const query = new URLSearchParams({ window, format });
  return host.save(`/costs/${upstream}/evidence?${query}`, `headgate-evidence-${upstream}-${window}.${format}`);
}
