/** What a monitor asks, as its form holds it, and back into the words of the configuration file. */
import { z } from "zod";
import type { Monitor } from "@/api/types";
import { text } from "@/i18n";
import { spanAtLeast, wholeNumber } from "./checks";

export interface MonitorDraft {
  interval: string;
  endpoint: string;
  message: string;
  max_tokens: string;
  stream: boolean;
}

/** `auto` is the route of the upstream's own protocol. */
export const ENDPOINTS = ["auto", "/v1/messages", "/v1/responses", "/v1/chat/completions"] as const;

export function monitorDraftOf(monitor?: Monitor): MonitorDraft {
  return {
    interval: monitor?.interval ?? "5m",
    endpoint: monitor?.endpoint ?? "auto",
    message: monitor?.message ?? "hi",
    max_tokens: String(monitor?.max_tokens ?? 16),
    stream: monitor?.stream ?? true,
  };
}

export function monitorFileOf(draft: MonitorDraft): Record<string, unknown> {
  return {
    interval: draft.interval.trim(),
    endpoint: draft.endpoint,
    message: draft.message,
    max_tokens: Number(draft.max_tokens),
    stream: draft.stream,
  };
}

export function monitorCheck() {
  const needed = (typed: string) => typed.trim() !== "";
  return z.object({
    interval: spanAtLeast(5000, "5s"),
    message: z.string().refine(needed, text("errors.required")),
    max_tokens: wholeNumber(1, 4_294_967_295).refine(needed, text("errors.required")),
  });
}

export interface NewMonitorsDraft extends MonitorDraft {
  /** Id of the upstream. */
  upstream: string;
  /** Chosen out of its list. */
  models: string[];
  /** Typed. */
  others: string[];
}

export function newMonitorsDraft(upstreams: readonly { id: number }[]): NewMonitorsDraft {
  return { ...monitorDraftOf(), upstream: String(upstreams[0]?.id ?? ""), models: [], others: [] };
}

/** Each model once. */
export function wantedModels(draft: Pick<NewMonitorsDraft, "models" | "others">): string[] {
  return [...new Set([...draft.models, ...draft.others].map((model) => model.trim()).filter(Boolean))];
}

export function newMonitorsCheck() {
  return monitorCheck()
    .extend({
      upstream: z.string().min(1, text("errors.required")),
      models: z.array(z.string()),
      others: z.array(z.string()),
    })
    .superRefine((draft, context) => {
      if (wantedModels(draft).length > 0) return;
      context.addIssue({ code: "custom", path: ["others"], message: text("monitor.choose_model") });
    });
}
