/** Monitors: what is probed, and how it went. */
import { useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { api, take } from "./client";

export function useMonitors() {
  return useQuery({
    queryKey: ["monitors"],
    queryFn: async ({ signal }) => (await take(api.GET("/monitors", { signal }))).items,
  });
}

/** The newest probes of a monitor. */
export function useProbes(id: MaybeRefOrGetter<number>, limit: number) {
  return useQuery({
    queryKey: computed(() => ["probes", toValue(id)]),
    queryFn: async ({ signal }) => {
      const params = { path: { id: toValue(id) }, query: { limit } };
      return (await take(api.GET("/monitors/{id}/probes", { params, signal }))).items;
    },
  });
}

/** What several monitors are made with, in the words of the configuration file. */
export type MonitorFields = Record<string, unknown>;

/** One for each model; those that are monitored already stay as they are. */
export function createMonitors(upstream: number, models: readonly string[], fields: MonitorFields) {
  return take(api.POST("/monitors", { body: { upstream, models: [...models], fields } as never }));
}

export function changeMonitor(id: number, revision: number, patch: MonitorFields) {
  return take(api.PATCH("/monitors/{id}", { params: { path: { id } }, body: { ...patch, revision } as never }));
}

export function deleteMonitor(id: number, revision?: number) {
  return take(api.DELETE("/monitors/{id}", { params: { path: { id }, query: { revision } } }));
}

export function restoreMonitor(id: number) {
  return take(api.POST("/monitors/{id}/restore", { params: { path: { id } } }));
}

export function probeMonitor(id: number) {
  return take(api.POST("/monitors/{id}/probe", { params: { path: { id } } }));
}
