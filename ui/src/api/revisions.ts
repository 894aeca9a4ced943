/** What was changed when and by whom. */
import { useInfiniteQuery, useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { api, take } from "./client";

const PER_PAGE = 30;

export function useRevisions() {
  return useInfiniteQuery({
    queryKey: ["revisions"],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET("/revisions", { params: { query: { per_page: PER_PAGE, cursor: pageParam ?? undefined } }, signal }),
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.next ? Number(page.next) : null),
  });
}

/** What a revision changed; against an earlier one, all that changed since. */
export function useRevisionDiff(id: MaybeRefOrGetter<number | null>, against?: MaybeRefOrGetter<number | null>) {
  return useQuery({
    queryKey: computed(() => ["revision-diff", toValue(id), toValue(against) ?? null]),
    queryFn: ({ signal }) => {
      const query = { against: toValue(against) ?? undefined };
      return take(api.GET("/revisions/{id}/diff", { params: { path: { id: toValue(id) ?? 0 }, query }, signal }));
    },
    enabled: computed(() => toValue(id) !== null),
  });
}

export function rollBack(id: number) {
  return take(api.POST("/revisions/{id}/roll-back", { params: { path: { id } } }));
}
