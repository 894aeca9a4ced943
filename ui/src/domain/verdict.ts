/** What was found about an upstream's charges, in words. */
import type { Comparison, CostSpan, UpstreamCosts, VerdictSpan } from "@/api/costs";
import type { Kind } from "@/components/ui/StateMark.vue";
import { text } from "@/i18n";
import { formatNumber } from "@/i18n/format";

/** The window of a comparison: there is none of a month. */
export function verdictSpan(window: CostSpan): VerdictSpan {
  return window === "30d" ? "7d" : window;
}

export function comparisonOf(upstream: UpstreamCosts, window: CostSpan): Comparison | null {
  return upstream.windows?.find((one) => one.window === verdictSpan(window))?.comparison ?? null;
}

export function verdictKind(comparison: Comparison | null): Kind {
  if (!comparison || comparison.status === "cannot_tell") return "stopped";
  return comparison.status === "warning" ? "degraded" : "healthy";
}

/** A warning says what about; all else that there is nothing to say, or nothing to know. */
export function verdictWord(comparison: Comparison | null): string {
  if (!comparison) return text("costs.comparing");
  const found = comparison.status === "warning" && WARNINGS.find((one) => one === comparison.reason);
  return found ? text(`costs.warning_${found}`) : text(`costs.status_${comparison.status}`);
}

/** Why it looks so, in one sentence. */
export function verdictReason(comparison: Comparison | null): string {
  return comparison ? text(`costs.reason_${comparison.reason}`) : "";
}

/** The second line: what the word does not say yet. */
export function verdictAside(comparison: Comparison | null): string {
  const basis = verdictBasis(comparison);
  return comparison?.status === "warning" && basis ? basis : verdictReason(comparison);
}

/** What the verdict rests on. */
export function verdictBasis(comparison: Comparison | null): string {
  if (!comparison?.billing) return "";
  return text(`costs.basis_${comparison.billing.basis}`);
}

const WARNINGS = ["charged_exceeded", "list_exceeded", "tokens_exceeded"] as const;
const RANK = { warning: 0, cannot_tell: 1, ok: 2 } as const;

/** The most suspicious first. */
export function bySuspicion(window: CostSpan) {
  const rank = (upstream: UpstreamCosts) => RANK[comparisonOf(upstream, window)?.status ?? "cannot_tell"];
  return (a: UpstreamCosts, b: UpstreamCosts) => rank(a) - rank(b) || a.name.localeCompare(b.name);
}

/** A gap in per cent with its sign; small ones with a digit. */
export function formatGap(rate: string | null | undefined): string {
  if (rate === null || rate === undefined) return "–";
  const percent = Number(rate) * 100;
  const digits = Math.abs(percent) < 1 && percent !== 0 ? 1 : 0;
  const figure = formatNumber(Math.abs(percent), digits);
  if (Number(figure) === 0) return "0 %";
  return `${percent < 0 ? "−" : "+"}${figure} %`;
}

/** A multiplier in as many digits as it has, but no more than four. */
export function formatMultiplier(multiplier: string | null | undefined): string {
  if (multiplier === null || multiplier === undefined) return "–";
  return `×${Number(Number(multiplier).toFixed(4))}`;
}

export type Skip = NonNullable<Comparison["skipped"][number][0]>;
