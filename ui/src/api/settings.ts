/** Settings, with effective values and defaults. */
import { useQuery } from "@tanstack/vue-query";
import { computed } from "vue";
import { api, take } from "./client";

export function useSettings() {
  return useQuery({ queryKey: ["settings"], queryFn: ({ signal }) => take(api.GET("/settings", { signal })) });
}

/** `null` goes back to the default. */
export function changeSettings(revision: number, values: Record<string, unknown>) {
  return take(api.PATCH("/settings", { body: { revision, values: values as never } }));
}

/** The time zone that days and times are told in. */
export function useZone() {
  const { data } = useSettings();
  return computed(() => data.value?.values.time_zone ?? undefined);
}
