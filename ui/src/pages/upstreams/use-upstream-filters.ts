/** The filters of the upstream list, kept in the address. */
import { computed, type Ref } from "vue";
import type { Upstream, UpstreamKind } from "@/api/types";
import { hasConcern, type Concern } from "@/domain/account";
import { conditionName, type ConditionName } from "@/domain/condition";
import { useUrlList, useUrlText } from "@/lib/url-state";

export function useUpstreamFilters(upstreams: Ref<readonly Upstream[] | undefined>) {
  const search = useUrlText("q", "", "page");
  const mains = useUrlList("main", "page");
  const labels = useUrlList("label", "page");
  const protocols = useUrlList<UpstreamKind>("protocol", "page");
  const states = useUrlList<ConditionName>("state", "page");
  const enabled = useUrlList<"on" | "off">("enabled", "page");

  const concerns = useUrlList<Concern>("billing", "page");

  const isFiltered = computed(
    () =>
      !!search.value || [mains, labels, protocols, states, enabled, concerns].some((filter) => filter.value.length > 0),
  );

  function clear(): void {
    search.value = "";
    for (const filter of [mains, labels, protocols, states, enabled, concerns]) filter.value = [];
  }

  const words = computed(() => search.value.toLowerCase().split(/\s+/).filter(Boolean));

  function passes(upstream: Upstream): boolean {
    const tags = upstream.tags;
    const text = [upstream.name, upstream.base_url, tags?.main, ...(tags?.labels ?? [])].join(" ").toLowerCase();
    return (
      words.value.every((word) => text.includes(word)) &&
      (mains.value.length === 0 || mains.value.includes(tags?.main ?? "")) &&
      labels.value.every((label) => tags?.labels?.includes(label)) &&
      (protocols.value.length === 0 || protocols.value.includes(upstream.protocol ?? "passthrough")) &&
      (states.value.length === 0 || states.value.includes(conditionName(upstream.condition))) &&
      (enabled.value.length === 0 || enabled.value.includes(upstream.enabled === false ? "off" : "on")) &&
      (concerns.value.length === 0 || concerns.value.some((kind) => hasConcern(upstream.account, kind)))
    );
  }

  const found = computed(() => (upstreams.value ?? []).filter(passes));
  return { search, mains, labels, protocols, states, enabled, concerns, isFiltered, clear, found };
}
