/** Whether a key's first request has been recorded. */
import { useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, onScopeDispose, toValue, type MaybeRefOrGetter } from "vue";
import { api, take } from "@/api/client";
import { onFeed } from "@/live/feed";

export function useFirstRequest(key: MaybeRefOrGetter<number | null>) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: computed(() => ["first-request", toValue(key)]),
    queryFn: async ({ signal }) => {
      const query = { key: toValue(key) ?? 0, per_page: 1 };
      return (await take(api.GET("/requests", { params: { query }, signal }))).items[0] ?? null;
    },
    enabled: computed(() => toValue(key) !== null),
  });
  const release = onFeed((event) => {
    if (event.type !== "request_finished" || data.value) return;
    // The record is written a moment after the event.
    for (const ms of [300, 1300]) setTimeout(() => void client.invalidateQueries({ queryKey: ["first-request"] }), ms);
  });
  onScopeDispose(release);
  return data;
}
