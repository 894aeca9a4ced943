/** An access key as its form holds it, and back into the words of the configuration file. */
import { z } from "zod";
import type { Key } from "@/api/types";
import { text } from "@/i18n";
import { nameRule } from "./checks";

export interface KeyDraft {
  name: string;
  group: string;
  models: string[];
  regions: string[];
  labels: string[];
  /** `2026-12-31`; it ends with that day. */
  expires: string;
  secret: string;
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

export function keyDraftOf(key: Key | undefined, group: string): KeyDraft {
  return {
    name: key?.name ?? "",
    group,
    models: [...(key?.models ?? [])],
    regions: [...(key?.regions ?? [])],
    labels: [...(key?.labels ?? [])],
    expires: key?.expires_at ? dayOf(key.expires_at) : "",
    secret: "",
  };
}

export function keyFileOf(draft: KeyDraft): Record<string, unknown> {
  const listOrNull = (list: readonly string[]) => (list.length > 0 ? list : null);
  return {
    name: draft.name.trim(),
    group: draft.group,
    models: listOrNull(draft.models),
    regions: listOrNull(draft.regions),
    labels: listOrNull(draft.labels),
    expires_at: draft.expires ? endOfDay(draft.expires) : null,
    ...(draft.secret.trim() ? { secret: draft.secret.trim() } : {}),
  };
}

const SECRET = /^hg-[\w-]{20,125}$/;

export function keyCheck(takenNames: readonly string[], now: number) {
  const isAhead = (day: string) => !day || new Date(`${day}T23:59:59`).getTime() > now;
  return z.object({
    name: nameRule(takenNames),
    group: z.string().min(1, text("errors.required")),
    expires: z.string().refine(isAhead, text("errors.date_past")),
    secret: z.string().refine((typed) => !typed.trim() || SECRET.test(typed.trim()), text("errors.key_secret")),
  });
}
