/** How the gateway itself is doing. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

/** While the database is away the gateway is asked again now and then; otherwise only after events. */
const RECHECK_MS = 5000;

export function useStatus() {
  return useQuery({
    queryKey: ["status"],
    queryFn: ({ signal }) => take(api.GET("/status", { signal })),
    refetchInterval: (query) => (query.state.data?.database.reachable === false ? RECHECK_MS : false),
  });
}

/** Refuses new requests for a while, or takes them again. */
export function pauseGateway(paused: boolean) {
  return take(api.PUT("/paused", { body: { paused } }));
}

/** The address that tools are given. */
export function baseUrl(address: string): string {
  return `http://${address}`;
}
