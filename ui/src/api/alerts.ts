/** Alerts: where people are told, and how it went. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useAlerts() {
  return useQuery({
    queryKey: ["alerts"],
    queryFn: async ({ signal }) => (await take(api.GET("/alerts", { signal }))).items,
  });
}

/** The newest deliveries. */
export function useAlertLog() {
  return useQuery({
    queryKey: ["alert-log"],
    queryFn: async ({ signal }) => (await take(api.GET("/alerts/log", { signal }))).items,
  });
}

/** A target, in the words of the configuration file. */
export type AlertFields = Record<string, unknown>;

export function createAlert(fields: AlertFields) {
  return take(api.POST("/alerts", { body: fields as never }));
}

export function changeAlert(id: number, revision: number, patch: AlertFields) {
  return take(api.PATCH("/alerts/{id}", { params: { path: { id } }, body: { ...patch, revision } as never }));
}

export function deleteAlert(id: number, revision?: number) {
  return take(api.DELETE("/alerts/{id}", { params: { path: { id }, query: { revision } } }));
}

export function restoreAlert(id: number) {
  return take(api.POST("/alerts/{id}/restore", { params: { path: { id } } }));
}

/** Sends one message and tells what became of it. */
export function testAlert(id: number) {
  return take(api.POST("/alerts/{id}/test", { params: { path: { id } } }));
}
