/** An own price as its form holds it, and rates as people read them. */
import { z } from "zod";
import type { Schemas } from "@/api/client";
import type { OwnPrice } from "@/api/prices";
import { text } from "@/i18n";

export const PRICE_PARTS = ["input", "cache_read", "cache_write", "cache_write_1h", "output"] as const;
export type PricePart = (typeof PRICE_PARTS)[number];

export type PriceDraft = { model: string; upstream: string; currency: string } & Record<PricePart, string>;

export function emptyPrice(model = ""): PriceDraft {
  const rates = Object.fromEntries(PRICE_PARTS.map((part) => [part, ""])) as Record<PricePart, string>;
  return { model, upstream: "", currency: "USD", ...rates };
}

const AMOUNT = /^\d+(\.\d+)?$/;

export function priceCheck() {
  const rate = z.string().refine((typed) => !typed.trim() || AMOUNT.test(typed.trim()), text("prices.wrong_amount"));
  const rates = Object.fromEntries(PRICE_PARTS.map((part) => [part, rate])) as Record<PricePart, typeof rate>;
  return z
    .object({
      model: z.string().trim().min(1, text("errors.required")),
      upstream: z.string(),
      currency: z.string().regex(/^[A-Z0-9]{2,8}$/, text("prices.wrong_currency")),
      ...rates,
    })
    .refine((draft) => PRICE_PARTS.some((part) => draft[part].trim()), {
      path: ["input"],
      message: text("prices.no_rate"),
    });
}

/** What is left empty has no price. */
export function ownPriceOf(draft: PriceDraft): OwnPrice {
  return {
    model: draft.model.trim(),
    upstream: draft.upstream ? Number(draft.upstream) : undefined,
    currency: draft.currency,
    rates: PRICE_PARTS.filter((part) => draft[part].trim()).map((part) => ({ part, price: draft[part].trim() })),
  };
}

/** The rate of a part per million tokens, for requests of the usual length and service. */
export function rateOf(entry: Schemas["Entry"], part: PricePart): string | null {
  const usual = entry.rates.filter((r) => r.part === part && (r.service ?? "standard") === "standard");
  return usual.find((r) => !r.above)?.price ?? null;
}

/** Lengths of the prompt from which other rates hold. */
export function tiersOf(entry: Schemas["Entry"]): number[] {
  return [...new Set(entry.rates.map((r) => r.above ?? 0).filter((above) => above > 0))].sort((a, b) => a - b);
}
