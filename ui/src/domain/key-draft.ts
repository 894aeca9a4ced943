/** An access key as its form holds it, and back into the words of the configuration file. */
import { z } from "zod";
import type { Key } from "@/api/types";
import { text } from "@/i18n";
import { budgetCheck, budgetDraftOf, budgetFileOf, type BudgetDraft } from "./budget-draft";
import { nameRule, wholeNumber } from "./checks";

export interface KeyDraft {
  name: string;
  group: string;
  models: string[];
  regions: string[];
  labels: string[];
  /** `2026-12-31`; it ends with that day. */
  expires: string;
  secret: string;
  limits: { concurrency: string; rpm: string; tpm: string };
  budget: BudgetDraft;
}

/** The day of a moment on this machine's calendar. */
function dayOf(moment: string): string {
  const date = new Date(moment);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last second of a day. */
export function endOfDay(day: string): string | null {
  const date = new Date(`${day}T23:59:59`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

const typed = (limit: number | null | undefined): string => (limit == null ? "" : String(limit));

export function keyDraftOf(key: Key | undefined, group: string): KeyDraft {
  return {
    name: key?.name ?? "",
    group,
    models: [...(key?.models ?? [])],
    regions: [...(key?.regions ?? [])],
    labels: [...(key?.labels ?? [])],
    expires: key?.expires_at ? dayOf(key.expires_at) : "",
    secret: "",
    limits: {
      concurrency: typed(key?.limits?.concurrency),
      rpm: typed(key?.limits?.rpm),
      tpm: typed(key?.limits?.tpm),
    },
    budget: budgetDraftOf(key?.budget),
  };
}

export function keyFileOf(draft: KeyDraft): Record<string, unknown> {
  const numberOrNull = (text: string) => (text.trim() ? Number(text) : null);
  const listOrNull = (list: readonly string[]) => (list.length > 0 ? list : null);
  return {
    name: draft.name.trim(),
    group: draft.group,
    models: listOrNull(draft.models),
    regions: listOrNull(draft.regions),
    labels: listOrNull(draft.labels),
    expires_at: draft.expires ? endOfDay(draft.expires) : null,
    limits: {
      concurrency: numberOrNull(draft.limits.concurrency),
      rpm: numberOrNull(draft.limits.rpm),
      tpm: numberOrNull(draft.limits.tpm),
    },
    budget: budgetFileOf(draft.budget),
    ...(draft.secret.trim() ? { secret: draft.secret.trim() } : {}),
  };
}

const U32 = 4_294_967_295;
const SECRET = /^hg-[\w-]{20,125}$/;

export function keyCheck(takenNames: readonly string[], now: number) {
  const isAhead = (day: string) => !day || new Date(`${day}T23:59:59`).getTime() > now;
  return z.object({
    name: nameRule(takenNames),
    group: z.string().min(1, text("errors.required")),
    expires: z.string().refine(isAhead, text("errors.date_past")),
    limits: z.object({ concurrency: wholeNumber(1, U32), rpm: wholeNumber(1, U32), tpm: wholeNumber(1, U32) }),
    budget: budgetCheck(),
    secret: z.string().refine((typed) => !typed.trim() || SECRET.test(typed.trim()), text("errors.key_secret")),
  });
}
