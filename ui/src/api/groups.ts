/** Groups and their members. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useGroups() {
  return useQuery({
    queryKey: ["groups"],
    queryFn: async ({ signal }) => (await take(api.GET("/groups", { signal }))).items,
  });
}
