/** What is wrong with a typed setting, and what it becomes. */
import { text } from "@/i18n";
import { spanRule, wholeNumber } from "./checks";
import type { SettingKind } from "./setting-list";

const SIZE = /^\d+(\.\d+)?\s*(B|[KMG]i?B)?$/i;

export function settingProblem(kind: SettingKind, typed: string): string | null {
  if (kind.kind === "address") return null;
  if (!typed.trim()) return text("errors.required");
  if (kind.kind === "span") {
    if (typed.trim() === "0") return null;
    return spanRule().safeParse(typed).success ? null : text("errors.span");
  }
  if (kind.kind === "whole") {
    const outcome = wholeNumber(kind.min, kind.max).safeParse(typed);
    return outcome.success ? null : (outcome.error.issues[0]?.message ?? null);
  }
  if (kind.kind === "share") {
    const value = Number(typed);
    return value >= kind.min && value <= kind.max ? null : text("errors.number", { min: kind.min, max: kind.max });
  }
  if (kind.kind === "size") return SIZE.test(typed.trim()) ? null : text("errors.size");
  return null;
}

export function settingValue(kind: SettingKind, typed: string): unknown {
  if (kind.kind === "address") return typed.trim() || null;
  return kind.kind === "whole" || kind.kind === "share" ? Number(typed) : typed.trim();
}
