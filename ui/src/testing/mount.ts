/** Mounts a component with everything the application gives it; the admin API is a function of the test. */
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { mount, type VueWrapper } from "@vue/test-utils";
import { createPinia } from "pinia";
import { TooltipProvider } from "reka-ui";
import { vi } from "vitest";
import { defineComponent, h, type Component } from "vue";
import { createMemoryHistory, createRouter } from "vue-router";
import { host } from "@/host";
import { i18n } from "@/i18n";

type Answer = unknown | ((body: unknown, url: URL) => unknown);

/** Thrown by an answer to refuse the call. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly error: Record<string, unknown>,
  ) {}
}

export interface Call {
  method: string;
  path: string;
  body: unknown;
}

/** Answers calls by `GET /upstreams`; returns those that were made. */
export function serveApi(answers: Record<string, Answer>): Call[] {
  const calls: Call[] = [];
  vi.spyOn(host, "fetch").mockImplementation(async (request) => {
    const url = new URL(request.url);
    const path = url.pathname.replace("/admin/v1", "");
    const text = await request.text();
    const body: unknown = text ? JSON.parse(text) : undefined;
    calls.push({ method: request.method, path, body });
    const answer = answers[`${request.method} ${path}`];
    const json = (status: number, value: unknown) =>
      new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
    if (answer === undefined) return json(404, { error: { code: "not_found", message: path, request_id: "x" } });
    try {
      return json(200, typeof answer === "function" ? (answer as (b: unknown, u: URL) => unknown)(body, url) : answer);
    } catch (why) {
      if (why instanceof Refusal) return json(why.status, { error: { request_id: "r-1", ...why.error } });
      throw why;
    }
  });
  return calls;
}

let last: VueWrapper | undefined;

/** Mounted in the page's frame, at an address. */
export async function show(
  component: Component,
  props: Record<string, unknown> = {},
  at = "/upstreams",
): Promise<VueWrapper> {
  const empty = defineComponent({ render: () => null });
  const router = createRouter({
    history: createMemoryHistory(),
    routes: ["overview", "groups", "upstreams", "monitor", "requests", "costs", "keys", "settings", "first-run"].map(
      (name) => ({
        path: name === "settings" ? "/settings/:section?" : `/${name}/:id?`,
        name,
        component: empty,
      }),
    ),
  });
  await router.push(at);
  last?.unmount();
  const frame = document.createElement("div");
  frame.className = "main";
  document.body.replaceChildren(frame);
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  const shown = { render: () => h(TooltipProvider, () => h(component, props)) };
  last = mount(shown, {
    attachTo: frame,
    global: { plugins: [createPinia(), i18n, router, [VueQueryPlugin, { queryClient: client }]] },
  });
  return last;
}
