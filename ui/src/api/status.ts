/** How the gateway itself is doing. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useStatus() {
  return useQuery({ queryKey: ["status"], queryFn: ({ signal }) => take(api.GET("/status", { signal })) });
}

/** Refuses new requests for a while, or takes them again. */
export function pauseGateway(paused: boolean) {
  return take(api.PUT("/paused", { body: { paused } }));
}

/** The address that tools are given. */
export function baseUrl(address: string): string {
  return `http://${address}`;
}
