/** Access keys. A secret is told once, by the call that made it. */
import { useQuery } from "@tanstack/vue-query";
import { api, take } from "./client";

export function useKeys() {
  return useQuery({
    queryKey: ["keys"],
    queryFn: async ({ signal }) => (await take(api.GET("/keys", { signal }))).items,
  });
}

/** When each key was last used, by its id. */
export function useKeyUses() {
  return useQuery({
    queryKey: ["key-uses"],
    queryFn: async ({ signal }) => {
      const { items } = await take(api.GET("/keys/usage", { signal }));
      return new Map(items.map((use) => [use.key, use]));
    },
  });
}

export function createKey(body: Record<string, unknown>) {
  return take(api.POST("/keys", { body: body as never }));
}

export function changeKey(id: number, revision: number, patch: Record<string, unknown>) {
  return take(api.PATCH("/keys/{id}", { params: { path: { id } }, body: { ...patch, revision } as never }));
}

export function rotateKey(id: number, revision: number) {
  return take(api.POST("/keys/{id}/rotate", { params: { path: { id }, query: { revision } } }));
}

export function restoreKey(id: number) {
  return take(api.POST("/keys/{id}/restore", { params: { path: { id } } }));
}

export function deleteKey(id: number, revision: number) {
  return take(api.DELETE("/keys/{id}", { params: { path: { id }, query: { revision } } }));
}
