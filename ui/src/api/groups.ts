/** Groups and their members. */
import { useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { api, steps, take } from "./client";
import type { Capability, Protocol, TestStep } from "./types";
import type { TestQuestion } from "./upstreams";

export function useGroups() {
  return useQuery({
    queryKey: ["groups"],
    queryFn: async ({ signal }) => (await take(api.GET("/groups", { signal }))).items,
  });
}

export function useMembers(group: MaybeRefOrGetter<number | null>) {
  return useQuery({
    queryKey: computed(() => ["members", toValue(group)]),
    queryFn: async ({ signal }) => {
      const path = { id: toValue(group) ?? 0 };
      return (await take(api.GET("/groups/{id}/members", { params: { path }, signal }))).items;
    },
    enabled: computed(() => toValue(group) !== null),
  });
}

export function createGroup(body: Record<string, unknown>) {
  return take(api.POST("/groups", { body: body as never }));
}

export function changeGroup(id: number, revision: number, patch: Record<string, unknown>) {
  return take(api.PATCH("/groups/{id}", { params: { path: { id } }, body: { ...patch, revision } as never }));
}

export function restoreGroup(id: number) {
  return take(api.POST("/groups/{id}/restore", { params: { path: { id } } }));
}

export function deleteGroup(id: number, revision: number) {
  return take(api.DELETE("/groups/{id}", { params: { path: { id }, query: { revision } } }));
}

/** A member as it is set: what is left out stays as it was. */
export interface MemberChange {
  upstream: string;
  priority?: number;
  weight?: number;
  enabled?: boolean;
  min_input?: number | null;
  max_input?: number | null;
}

export function setMember(group: number, revision: number, member: MemberChange) {
  const body = { ...member, revision } as never;
  return take(api.PUT("/groups/{id}/members", { params: { path: { id: group } }, body }));
}

export function removeMember(group: number, revision: number, upstream: number) {
  const params = { path: { id: group, upstream }, query: { revision } };
  return take(api.DELETE("/groups/{id}/members/{upstream}", { params }));
}

/** A question through the group, as a client would ask it. */
export function testGroup(id: number, question: TestQuestion, signal: AbortSignal): AsyncGenerator<TestStep> {
  return steps<TestStep>(`/groups/${id}/test`, question, signal);
}

export interface ExplainQuestion {
  key?: number;
  group?: number;
  model: string;
  protocol: Protocol;
  stream: boolean;
  features: readonly Capability[];
  input: number;
}

/** What would happen to such a request now. */
export function useExplanation(question: MaybeRefOrGetter<ExplainQuestion>) {
  return useQuery({
    queryKey: computed(() => ["explain", toValue(question)]),
    queryFn: ({ signal }) => {
      const { features, ...rest } = toValue(question);
      const query = { ...rest, features: features.join(",") };
      return take(api.GET("/explain", { params: { query }, signal }));
    },
    enabled: computed(() => toValue(question).model.trim() !== ""),
    placeholderData: (previous) => previous,
    staleTime: 0,
  });
}
