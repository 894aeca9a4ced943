/** A budget as a form holds it, and back into the words of the configuration file. Amounts stay text: nothing is rounded. */
import { z } from "zod";
import type { Budget } from "@/api/types";
import { text } from "@/i18n";
import { amountRule } from "./checks";

export interface BudgetDraft {
  day: string;
  month: string;
  total: string;
  /** Empty: USD. */
  currency: string;
}

export const BUDGET_SPANS = ["day", "month", "total"] as const;

export function budgetDraftOf(budget: Budget | null | undefined): BudgetDraft {
  return {
    day: budget?.day ?? "",
    month: budget?.month ?? "",
    total: budget?.total ?? "",
    currency: budget?.currency ?? "",
  };
}

export function budgetFileOf(draft: BudgetDraft): Record<string, string | null> | null {
  const typed = (amount: string) => amount.trim() || null;
  if (BUDGET_SPANS.every((span) => typed(draft[span]) === null)) return null;
  return {
    day: typed(draft.day),
    month: typed(draft.month),
    total: typed(draft.total),
    currency: typed(draft.currency)?.toUpperCase() ?? null,
  };
}

export function budgetCheck() {
  const amount = amountRule();
  const currency = z.string().refine((typed) => /^([a-z0-9]{2,8})?$/i.test(typed.trim()), text("errors.currency"));
  return z.object({ day: amount, month: amount, total: amount, currency });
}
