/** The filters of the request list, kept in the address. */
import { computed, ref, type ComputedRef } from "vue";
import type { RequestFilter } from "@/api/requests";
import { useUrlList, useUrlText } from "@/lib/url-state";

export const WINDOWS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, all: null } as const;
export type Window = keyof typeof WINDOWS;

/** The beginning of a window moves on in whole minutes, so that answers can be kept that long. */
const MINUTE = 60_000;

export function useRequestFilters() {
  const search = useUrlText("q", "", "page");
  const window = useUrlText("window", "24h", "page") as unknown as ComputedRef<Window> & { value: Window };
  /** An exact time, as a figure elsewhere names it; it goes before the window. */
  const from = useUrlText("from", "", "page");
  const to = useUrlText("to", "", "page");
  /** When requests ended, as figures of a bill name it: they are counted at their end. */
  const endedFrom = useUrlText("ended_from", "", "page");
  const endedTo = useUrlText("ended_to", "", "page");
  const isMoment = (text: string) => !Number.isNaN(Date.parse(text));
  const rangeOf = (begin: string, end: string) => (isMoment(begin) && isMoment(end) ? { from: begin, to: end } : null);
  const range = computed(() => rangeOf(from.value, to.value));
  const ended = computed(() => rangeOf(endedFrom.value, endedTo.value));
  const lists = {
    upstream: useUrlList("upstream", "page"),
    model: useUrlList("model", "page"),
    key: useUrlList("key", "page"),
    group: useUrlList("group", "page"),
    status: useUrlList("status", "page"),
    error_kind: useUrlList("error", "page"),
    error_source: useUrlList("source", "page"),
    protocol: useUrlList("protocol", "page"),
    stream: useUrlList("stream", "page"),
    slow: useUrlList("slow", "page"),
    retried: useUrlList("retried", "page"),
    client: useUrlList("client", "page"),
    priced: useUrlList("priced", "page"),
    tokens: useUrlList("tokens", "page"),
    without: useUrlList("without", "page"),
  };

  const now = ref(Math.floor(Date.now() / MINUTE) * MINUTE);
  function moveOn(): void {
    now.value = Math.floor(Date.now() / MINUTE) * MINUTE;
  }

  const filter = computed((): RequestFilter => {
    const span = WINDOWS[window.value] ?? null;
    const first = (name: keyof typeof lists) => lists[name].value[0];
    const number = (name: keyof typeof lists) => (first(name) ? Number(first(name)) : undefined);
    const yes = (name: keyof typeof lists) => (first(name) ? first(name) === "yes" : undefined);
    return {
      since: range.value?.from ?? (span === null || ended.value ? undefined : new Date(now.value - span).toISOString()),
      until: range.value?.to,
      upstream: number("upstream"),
      key: number("key"),
      group: number("group"),
      slow_ms: first("slow") ? Number(first("slow")) * 1000 : undefined,
      model: first("model"),
      client: first("client"),
      status: first("status"),
      error_kind: first("error_kind"),
      error_source: first("error_source") as RequestFilter["error_source"],
      protocol: first("protocol") as RequestFilter["protocol"],
      stream: yes("stream"),
      retried: yes("retried"),
      priced: yes("priced"),
      tokens: first("tokens") as RequestFilter["tokens"],
      without: first("without") as RequestFilter["without"],
      ended_after: ended.value?.from,
      ended_by: ended.value?.to,
      q: search.value.trim() || undefined,
    };
  });

  function clearRange(): void {
    from.value = "";
    to.value = "";
  }

  function clearEnded(): void {
    endedFrom.value = "";
    endedTo.value = "";
  }

  const isFiltered = computed(
    () =>
      !!search.value ||
      range.value !== null ||
      ended.value !== null ||
      Object.values(lists).some((list) => list.value.length > 0),
  );
  function clear(): void {
    search.value = "";
    clearRange();
    clearEnded();
    for (const list of Object.values(lists)) list.value = [];
  }

  return { search, window, range, clearRange, ended, clearEnded, ...lists, filter, isFiltered, clear, moveOn };
}
