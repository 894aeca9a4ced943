/** The record of what was asked and answered. */
import { keepPreviousData, useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { host } from "@/host";
import { api, take } from "./client";
import { ApiFailure } from "./failure";
import type { paths } from "./schema";

/** Every parameter narrows. */
export type RequestFilter = NonNullable<paths["/requests/stats"]["get"]["parameters"]["query"]>;

export function useRequestList(
  filter: MaybeRefOrGetter<RequestFilter>,
  page: MaybeRefOrGetter<number>,
  perPage: MaybeRefOrGetter<number>,
) {
  return useQuery({
    queryKey: computed(() => ["requests", "list", toValue(filter), toValue(page), toValue(perPage)]),
    queryFn: ({ signal }) => {
      const query = { ...toValue(filter), page: toValue(page), per_page: toValue(perPage) };
      return take(api.GET("/requests", { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** The newest few. */
export function useLatestRequests(count: number) {
  return useQuery({
    queryKey: ["requests", "latest", count],
    queryFn: async ({ signal }) =>
      (await take(api.GET("/requests", { params: { query: { per_page: count } }, signal }))).items,
  });
}

export function useRequestStats(filter: MaybeRefOrGetter<RequestFilter>) {
  return useQuery({
    queryKey: computed(() => ["requests", "stats", toValue(filter)]),
    queryFn: ({ signal }) => take(api.GET("/requests/stats", { params: { query: toValue(filter) }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** Values to filter by: of the time that is looked at. */
export function useRequestOptions(filter: MaybeRefOrGetter<Pick<RequestFilter, "since" | "until">> = {}) {
  return useQuery({
    queryKey: computed(() => ["request-options", toValue(filter)]),
    queryFn: ({ signal }) => take(api.GET("/requests/options", { params: { query: toValue(filter) }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** A request that ended just now: its record may be a moment behind, so it is asked for a few times. */
export function useNewRequest(id: MaybeRefOrGetter<string | null>) {
  return useQuery({
    queryKey: computed(() => ["new-request", toValue(id)]),
    queryFn: async ({ signal }) => {
      const query = { id: toValue(id) ?? "", per_page: 1 };
      const [item] = (await take(api.GET("/requests", { params: { query }, signal }))).items;
      if (!item) throw new Error("not recorded yet");
      return item;
    },
    enabled: computed(() => toValue(id) !== null),
    retry: 10,
    retryDelay: 300,
  });
}

export function useRequest(id: MaybeRefOrGetter<string | null>) {
  return useQuery({
    queryKey: computed(() => ["request", toValue(id)]),
    queryFn: ({ signal }) => take(api.GET("/requests/{id}", { params: { path: { id: toValue(id) ?? "" } }, signal })),
    enabled: computed(() => toValue(id) !== null),
    // One that ended just now is recorded within a second or two.
    retry: (failures, why) => why instanceof ApiFailure && why.status === 404 && failures < 5,
    retryDelay: 400,
  });
}

/** Saves the requests that pass a filter as a file. */
export function saveRequests(filter: RequestFilter, format: "csv" | "json"): Promise<void> {
  const query = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return host.save(`/requests/export?${query}`, `headgate-requests.${format}`);
}
