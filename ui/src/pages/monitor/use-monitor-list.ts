/** The monitors as they are shown: filters in the address, states, and an order that stays while somebody points at it. */
import { computed, ref, type Ref } from "vue";
import type { Monitor, Probe } from "@/api/types";
import { countsOf, sectionsOf, stateOf, type MonitorState, type Shown } from "@/domain/monitor";
import { useUrlList, useUrlText } from "@/lib/url-state";

export function useMonitorList(monitors: Ref<readonly Monitor[] | undefined>, results: ReadonlyMap<number, Probe>) {
  const search = useUrlText("q");
  const states = useUrlList<MonitorState>("state");
  const words = computed(() => search.value.toLowerCase().split(/\s+/).filter(Boolean));
  const isFiltered = computed(() => words.value.length > 0 || states.value.length > 0);

  function clear(): void {
    search.value = "";
    states.value = [];
  }

  const all = computed(() =>
    (monitors.value ?? []).map((monitor): Shown => ({ monitor, state: stateOf(monitor, results.get(monitor.id)) })),
  );
  const named = computed(() =>
    all.value.filter(({ monitor }) => {
      const text = [monitor.upstream_name, monitor.model, monitor.tag].join(" ").toLowerCase();
      return words.value.every((word) => text.includes(word));
    }),
  );
  const found = computed(() =>
    named.value.filter(({ state }) => states.value.length === 0 || states.value.includes(state)),
  );
  const counts = computed(() => countsOf(named.value));

  const held = ref<number[] | null>(null);
  const sections = computed(() => sectionsOf(found.value, held.value));
  function hold(): void {
    held.value ??= sections.value.flatMap((section) => section.items.map((item) => item.monitor.id));
  }
  function release(): void {
    held.value = null;
  }

  return { search, states, isFiltered, clear, all, found, counts, sections, hold, release };
}
