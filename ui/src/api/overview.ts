/** Everything at a glance. */
import { useQuery, useQueryClient } from "@tanstack/vue-query";
import { onScopeDispose } from "vue";
import { onFeed } from "@/live/feed";
import { api, take } from "./client";

export function useOverview() {
  return useQuery({ queryKey: ["overview"], queryFn: ({ signal }) => take(api.GET("/overview", { signal })) });
}

/** A day in quarters of an hour changes slowly: it is asked for again at most this often. */
const SERIES_REST_MS = 30_000;

/** The last day as a series. */
export function useSeries() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ["series"],
    queryFn: ({ signal }) => take(api.GET("/overview/series", { signal })),
    staleTime: SERIES_REST_MS,
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = onFeed((event) => {
    if (event.type !== "requests_stored" || timer) return;
    const rest = Math.max(0, query.dataUpdatedAt.value + SERIES_REST_MS - Date.now());
    timer = setTimeout(() => {
      timer = undefined;
      void client.invalidateQueries({ queryKey: ["series"] });
    }, rest);
  });
  onScopeDispose(() => {
    release();
    clearTimeout(timer);
  });
  return query;
}
