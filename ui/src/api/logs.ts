/** The newest lines of the log. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function readLogs(signal?: AbortSignal) {
  return take(api.GET("/logs", { params: { query: { after: 0 } }, signal }));
}

export function useLogs() {
  return useQuery({ queryKey: ["logs"], queryFn: async ({ signal }) => (await readLogs(signal)).items });
}
