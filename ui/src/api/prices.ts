/** Prices: the list in force, what a model costs by it, and own prices that win over it. */
import { keepPreviousData, useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { api, take, type Schemas } from "./client";

export type OwnPrice = Schemas["Override"];

/** `sought`: part of a name; what it would be priced as is found, too. */
export function usePrices(sought: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => ["prices", toValue(sought).trim()]),
    queryFn: ({ signal }) => {
      const q = toValue(sought).trim() || undefined;
      return take(api.GET("/prices", { params: { query: { q, model: q } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

export function addPrice(price: OwnPrice) {
  return take(api.POST("/prices/overrides", { body: price }));
}

export function removePrice(id: number) {
  return take(api.DELETE("/prices/overrides/{id}", { params: { path: { id } } }));
}

/** Fetches the list now. */
export function refreshPrices() {
  return take(api.POST("/prices/refresh"));
}
