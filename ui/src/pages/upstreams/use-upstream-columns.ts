/** The columns of the upstream list. */
import { computed } from "vue";
import type { Upstream } from "@/api/types";
import type { Column } from "@/components/table/columns";
import { CONDITION_NAMES, conditionName } from "@/domain/condition";
import { successRate } from "@/domain/health";
import { useText } from "@/i18n";

export function useUpstreamColumns() {
  const t = useText();
  return computed((): Column<Upstream>[] => [
    { id: "name", label: t("upstreams.name"), sort: (u) => u.name },
    { id: "main", label: t("upstreams.main_tag"), sort: (u) => u.tags?.main ?? null, optional: true },
    { id: "labels", label: t("upstreams.labels"), wideOnly: true, optional: true },
    {
      id: "protocol",
      label: t("upstreams.protocol"),
      sort: (u) => t(`upstreams.protocol_${u.protocol ?? "passthrough"}`),
      optional: true,
    },
    { id: "state", label: t("upstreams.state"), sort: (u) => CONDITION_NAMES.indexOf(conditionName(u.condition)) },
    { id: "success", label: t("upstreams.success"), sort: (u) => successRate(u.health), numeric: true, optional: true },
    {
      id: "ttft",
      label: t("upstreams.first_token"),
      sort: (u) => u.health.ttft_ms ?? null,
      numeric: true,
      optional: true,
    },
    {
      id: "balance",
      label: t("upstreams.balance"),
      sort: (u) => (u.account.remaining == null ? null : Number(u.account.remaining)),
      numeric: true,
      optional: true,
    },
    {
      id: "multiplier",
      label: t("upstreams.multiplier"),
      sort: (u) => (u.account.multiplier == null ? null : Number(u.account.multiplier)),
      numeric: true,
      optional: true,
    },
    { id: "bill", label: t("upstreams.bill"), sort: (u) => u.account.verdict ?? null, optional: true },
    {
      id: "spent",
      label: t("upstreams.spent_day"),
      sort: (u) => (u.account.spent_day == null ? null : Number(u.account.spent_day)),
      numeric: true,
      wideOnly: true,
      optional: true,
    },
    {
      id: "in_flight",
      label: t("upstreams.in_flight"),
      sort: (u) => u.health.in_flight,
      numeric: true,
      optional: true,
    },
    { id: "groups", label: t("upstreams.groups"), sort: (u) => u.groups.length, numeric: true, optional: true },
    { id: "address", label: t("upstreams.address"), sort: (u) => u.base_url, wideOnly: true, optional: true },
    { id: "proxy", label: t("upstreams.proxy"), sort: (u) => u.proxy ?? null, wideOnly: true, optional: true },
  ]);
}
