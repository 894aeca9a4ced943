/** Everything at a glance. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useOverview() {
  return useQuery({ queryKey: ["overview"], queryFn: ({ signal }) => take(api.GET("/overview", { signal })) });
}
