/** What an upstream's billing says, in words. */
import type { Schemas } from "@/api/client";
import type { Kind } from "@/components/ui/StateMark.vue";
import type { MessageKey } from "@/i18n";
import { formatMoney } from "@/i18n/format";

export type Account = Schemas["BillingView"];
export type Concern = Account["concerns"][number]["kind"];

/** What the list of upstreams can be narrowed to. */
export const CONCERNS: readonly Concern[] = [
  "billing_warning",
  "over_cap",
  "balance_low",
  "multiplier_changed",
  "collection_failing",
];

export function hasConcern(account: Account, kind: Concern): boolean {
  return account.concerns.some((concern) => concern.kind === kind);
}

/** How the bill looks; none where it is not asked about. */
export function billWord(account: Account): { kind: Kind; word: MessageKey } | null {
  if (account.state === "not_asked") return null;
  if (account.state === "pending") return { kind: "stopped", word: "upstreams.bill_pending" };
  if (account.state === "error") return { kind: "degraded", word: "upstreams.bill_unreadable" };
  if (account.verdict === "warning") return { kind: "degraded", word: "upstreams.bill_warning" };
  if (account.verdict === "ok") return { kind: "healthy", word: "upstreams.bill_ok" };
  return { kind: "stopped", word: "upstreams.bill_cannot_tell" };
}

/** What a concerned person reads of an amount that may be unknown. */
export function amountText(amount: string | null | undefined, currency: string | null | undefined): string {
  return amount === null || amount === undefined ? "–" : formatMoney(amount, currency);
}
