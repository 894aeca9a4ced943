/** An alert target as its form holds it, and back into the words of the configuration file. */
import { z } from "zod";
import type { AlertEvent, AlertTarget, AlertTemplate } from "@/api/types";
import { text } from "@/i18n";
import { nameRule, spanRule } from "./checks";

export interface AlertDraft {
  name: string;
  template: AlertTemplate;
  /** Empty: the stored one stays. */
  url: string;
  secret: string;
  /** The stored secret is to go. */
  unsigned: boolean;
  everything: boolean;
  events: AlertEvent[];
  debounce: string;
}

export const TEMPLATES: readonly AlertTemplate[] = ["json", "feishu", "dingtalk", "wecom", "slack", "discord"];

/** What can be told, in the order in which it matters. A test is sent by hand alone. */
export const EVENTS: readonly AlertEvent[] = [
  "group_down",
  "group_back",
  "upstream_opened",
  "upstream_closed",
  "credential_rejected",
  "credential_exhausted",
  "credential_accepted",
  "model_gone",
  "model_back",
  "budget",
  "balance_low",
  "over_cap",
  "multiplier_changed",
  "billing_warning",
  "collection_failing",
  "billing_cleared",
];

/** Robots with a signature of their own. */
export function signsItself(template: AlertTemplate): boolean {
  return template === "feishu" || template === "dingtalk";
}

export function alertDraftOf(target: AlertTarget | undefined, template: AlertTemplate = "json"): AlertDraft {
  return {
    name: target?.name ?? "",
    template: target?.template ?? template,
    url: "",
    secret: "",
    unsigned: false,
    everything: !target?.events,
    events: [...(target?.events ?? EVENTS)],
    debounce: target?.debounce ?? "",
  };
}

export function alertFileOf(draft: AlertDraft): Record<string, unknown> {
  const typed = draft.secret.trim();
  return {
    name: draft.name.trim() || null,
    template: draft.template,
    events: draft.everything ? null : EVENTS.filter((event) => draft.events.includes(event)),
    debounce: draft.debounce.trim() || null,
    ...(draft.url.trim() ? { url: draft.url.trim() } : {}),
    ...(typed ? { secret: typed } : draft.unsigned ? { secret: null } : {}),
  };
}

function urlProblem(typed: string): string | null {
  let url: URL;
  try {
    url = new URL(typed);
  } catch {
    return text("errors.address_invalid");
  }
  if (!/^https?:$/.test(url.protocol) || !url.hostname) return text("errors.address_invalid");
  return url.username || url.password ? text("errors.address_user") : null;
}

export function alertCheck(isNew: boolean) {
  return z
    .object({
      name: z.string(),
      url: z.string(),
      everything: z.boolean(),
      events: z.array(z.string()),
      debounce: spanRule(),
    })
    .superRefine((draft, context) => {
      const wrong = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
      const name = draft.name.trim() ? nameRule([]).safeParse(draft.name).error?.issues[0] : undefined;
      if (name) wrong("name", name.message);
      const url = draft.url.trim();
      const problem = url ? urlProblem(url) : isNew ? text("errors.required") : null;
      if (problem) wrong("url", problem);
      if (!draft.everything && draft.events.length === 0) wrong("events", text("alerts.events_needed"));
    });
}

/** What a target is called. */
export function alertName(target: Pick<AlertTarget, "name" | "address" | "id">): string {
  return target.name ?? target.address ?? `#${target.id}`;
}
