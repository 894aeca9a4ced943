/** What a person should know, as sentences with their fix. */
import type { RouteLocationRaw } from "vue-router";
import type { Schemas } from "@/api/client";
import { text, type MessageKey } from "@/i18n";
import { amountText } from "@/domain/account";
import { formatShare, formatSpan } from "@/i18n/format";

export type Finding = Schemas["Finding"];

export function findingTitle(finding: Finding): string {
  return text(`overview.title_${finding.kind}`, "name" in finding ? { name: finding.name } : {});
}

/** Cause and time left. `passed`: milliseconds since the answer arrived. */
export function findingCause(finding: Finding, passed: number): string {
  const named: Record<string, unknown> = { ...finding };
  if (finding.kind === "credential_rejected") named.reason = text(`reasons.${finding.class}`);
  if (finding.kind === "budget_spent") {
    named.share = formatShare(finding.share);
    named.span = text(`budgets.${finding.span}`);
  }
  if (finding.kind === "balance_low") named.left = amountText(finding.remaining, finding.currency);
  if (finding.kind === "billing_warning") {
    named.reason = finding.reason ? text(`upstreams.reason_${finding.reason}`) : "";
    named.excess = amountText(finding.excess, finding.currency);
  }
  const cause = text(`overview.cause_${finding.kind}`, named);
  const remaining = "remaining_ms" in finding ? finding.remaining_ms : null;
  const left = remaining == null ? 0 : remaining - Math.max(0, passed);
  return left > 0
    ? text("overview.cause_with_left", { cause, left: formatSpan(Math.ceil(left / 1000) * 1000) })
    : cause;
}

export interface Fix {
  label: MessageKey;
  to: RouteLocationRaw;
}

function budgetPlace(finding: Finding & { kind: "budget_spent" }): RouteLocationRaw {
  const id = String(finding.id);
  return finding.owner === "key"
    ? { name: "keys", params: { id } }
    : { name: "groups", params: { id }, query: { sheet: "rules" } };
}

export function fixOf(finding: Finding): Fix {
  switch (finding.kind) {
    case "group_down":
    case "group_degraded":
      return { label: "overview.fix_group", to: { name: "groups", params: { id: String(finding.group) } } };
    case "model_gone":
      return { label: "overview.fix_models", to: { name: "upstreams", params: { id: String(finding.upstream) } } };
    case "credential_rejected":
    case "credentials_missing":
      return { label: "overview.fix_key", to: { name: "upstreams", params: { id: String(finding.upstream) } } };
    case "budget_spent":
      return { label: "overview.fix_budget", to: budgetPlace(finding) };
    case "over_cap":
    case "multiplier_unknown":
      return {
        label: "overview.fix_cap",
        to: { name: "groups", params: { id: String(finding.group) }, query: { sheet: "rules" } },
      };
    case "balance_low":
    case "multiplier_changed":
    case "collection_failing":
      return { label: "overview.fix_billing", to: { name: "upstreams", params: { id: String(finding.upstream) } } };
    case "billing_warning":
      return { label: "overview.fix_evidence", to: { name: "costs", params: { id: String(finding.upstream) } } };
    case "not_configured":
      return { label: "overview.fix_first_run", to: { name: "first-run" } };
    case "database_away":
    case "records_lost":
      return { label: "overview.fix_settings", to: { name: "settings", params: { section: "database" } } };
  }
}

/** The upstream whose billing one press asks for anew; none where that would change nothing. */
export function collectsOf(finding: Finding): number | null {
  switch (finding.kind) {
    case "balance_low":
    case "collection_failing":
    case "billing_warning":
      return finding.upstream;
    default:
      return null;
  }
}

/** The upstreams that one press asks again, should their cause be gone; none where pressing would change nothing. */
export function retriesOf(finding: Finding): readonly number[] {
  switch (finding.kind) {
    case "group_down":
    case "group_degraded":
      return finding.upstreams;
    case "credential_rejected":
    case "model_gone":
      return [finding.upstream];
    default:
      return [];
  }
}
