/** What upstreams charge: asking them now, and a multiplier by hand. */
import { api, take } from "./client";

/** Asks an upstream for its billing and waits for what becomes of it. */
export function collectBilling(id: number) {
  return take(api.POST("/upstreams/{id}/billing/refresh", { params: { path: { id } } }));
}

export function setMultiplier(id: number, multiplier: string) {
  return take(api.PUT("/upstreams/{id}/billing/multiplier", { params: { path: { id } }, body: { multiplier } }));
}

export function takeBackMultiplier(id: number) {
  return take(api.DELETE("/upstreams/{id}/billing/multiplier", { params: { path: { id } } }));
}
