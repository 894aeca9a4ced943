/** Tags in use. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useTags() {
  return useQuery({
    queryKey: ["tags"],
    queryFn: async ({ signal }) => (await take(api.GET("/tags", { signal }))).items,
  });
}
