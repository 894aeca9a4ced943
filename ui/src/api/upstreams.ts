/** Upstreams: reading, changing, testing. */
import { useQuery } from "@tanstack/vue-query";
import { computed, toValue, type MaybeRefOrGetter } from "vue";
import { api, steps, take } from "./client";
import type { TestStep } from "./types";

const KEY = ["upstreams"];

export function useUpstreams() {
  return useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await take(api.GET("/upstreams", { signal }))).items,
  });
}

/** One upstream of the list. */
export function useUpstream(id: MaybeRefOrGetter<number | null>) {
  const list = useUpstreams();
  const upstream = computed(() => list.data.value?.find((u) => u.id === toValue(id)));
  return { ...list, upstream };
}

/** What an upstream may be changed in, as the configuration file spells it. */
export type UpstreamPatch = Record<string, unknown>;

export function createUpstream(body: UpstreamPatch) {
  return take(api.POST("/upstreams", { body: body as never }));
}

export function changeUpstream(id: number, revision: number, patch: UpstreamPatch) {
  return take(api.PATCH("/upstreams/{id}", { params: { path: { id } }, body: { ...patch, revision } as never }));
}

export function deleteUpstream(id: number, revision: number) {
  return take(api.DELETE("/upstreams/{id}", { params: { path: { id }, query: { revision } } }));
}

export function restoreUpstream(id: number) {
  return take(api.POST("/upstreams/{id}/restore", { params: { path: { id } } }));
}

export function resetUpstream(id: number) {
  return take(api.POST("/upstreams/{id}/reset", { params: { path: { id } } }));
}

/** Ends every wait of the upstream: what still fails waits again. */
export function retryUpstream(id: number) {
  return take(api.POST("/upstreams/{id}/retry", { params: { path: { id } } }));
}

/** Forgets that the upstream does not have a model. */
export function resetUpstreamModel(id: number, model: string) {
  return take(api.POST("/upstreams/{id}/models/reset", { params: { path: { id } }, body: { model } }));
}

/** The models an upstream lists, asked of it now. */
export function useUpstreamModels(id: MaybeRefOrGetter<number | null>) {
  return useQuery({
    queryKey: computed(() => ["upstream-models", toValue(id)]),
    queryFn: async ({ signal }) => {
      const path = { id: toValue(id) ?? 0 };
      return (await take(api.GET("/upstreams/{id}/models", { params: { path }, signal }))).models;
    },
    enabled: computed(() => toValue(id) !== null),
    retry: false,
  });
}

export interface TestQuestion {
  model?: string;
  message?: string;
  max_tokens?: number;
  protocol?: string;
}

/** A question through the upstream, step by step. */
export function testUpstream(id: number, question: TestQuestion, signal: AbortSignal): AsyncGenerator<TestStep> {
  return steps<TestStep>(`/upstreams/${id}/test`, question, signal);
}

export type BatchAction =
  { action: "enable" | "disable" | "delete" } | { action: "tag" | "untag"; main?: string; labels?: string[] };

/** One change to several at once: all or nothing. */
export function batchUpstreams(ids: readonly number[], action: BatchAction) {
  return take(api.POST("/upstreams/batch", { body: { ids: [...ids], ...action } as never }));
}

export interface DetectQuestion {
  base_url: string;
  credential?: string;
  proxy?: string;
  allow_plain_http?: boolean;
}

/** What is at an address; asks it a few very small questions. */
export function detectUpstream(question: DetectQuestion) {
  return take(api.POST("/upstreams/detect", { body: question }));
}
