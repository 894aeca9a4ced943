/** Rules of single fields, with a sentence each. The gateway checks everything again. */
import { z } from "zod";
import { text } from "@/i18n";
import { cleanAddress } from "./paste";

/** 1–64 characters, no `/`, no control characters; unique among `taken`. */
export function nameRule(taken: readonly string[]) {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  return z
    .string()
    .trim()
    .min(1, text("errors.required"))
    .max(64, text("errors.name_long"))
    .refine((name) => ![...name].some((c) => c === "/" || c < " " || c === "\u007f"), text("errors.name_characters"))
    .refine((name) => !used.has(name.toLowerCase()), text("errors.name_taken"));
}

export function wholeNumber(min: number, max: number) {
  const sentence = text("errors.whole_number", { min: min.toLocaleString("en-US"), max: max.toLocaleString("en-US") });
  return z.string().refine((typed) => {
    if (!typed.trim()) return true;
    const value = Number(typed);
    return Number.isInteger(value) && value >= min && value <= max;
  }, sentence);
}

/** An amount of money or a factor, or nothing. */
export function amountRule() {
  return z.string().refine((typed) => /^(\d{1,15}(\.\d{1,12})?)?$/.test(typed.trim()), text("errors.amount"));
}

const SPAN = /^(\d+(\.\d+)?(ms|s|m|h|d|w|y)\s*)+$/;

export function spanRule() {
  return z.string().refine((typed) => !typed.trim() || SPAN.test(typed.trim()), text("errors.span"));
}

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_557_600_000,
};

/** Milliseconds of a typed time. */
export function spanMs(typed: string): number {
  const parts = typed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w|y)/g);
  return [...parts].reduce((sum, [, figure, unit]) => sum + Number(figure) * (UNIT_MS[unit ?? ""] ?? 0), 0);
}

/** A time that has to be given. */
export function spanAtLeast(ms: number, least: string) {
  const needed = z.string().refine((typed) => typed.trim() !== "", text("errors.required"));
  const enough = (typed: string) => !SPAN.test(typed.trim()) || spanMs(typed) >= ms;
  return needed.and(spanRule()).and(z.string().refine(enough, text("errors.span_short", { least })));
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

/** http(s), a host, no user. Plain http beyond this machine has to be allowed. */
export function addressProblem(typed: string, allowPlain: boolean): string | null {
  const address = cleanAddress(typed);
  if (!address) return text("errors.required");
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return text("errors.address_invalid");
  }
  if (!/^https?:$/.test(url.protocol) || !url.hostname) return text("errors.address_invalid");
  if (url.username || url.password) return text("errors.address_user");
  if (url.protocol === "http:" && !allowPlain && !isLoopback(url.hostname)) return text("errors.address_plain");
  return null;
}

const PROXY = /^((https?|socks5h?):\/\/\S+|direct)$/i;

export function proxyRule() {
  return z.string().refine((typed) => !typed.trim() || PROXY.test(typed.trim()), text("errors.proxy"));
}
