/** Tokens of a request. */
import type { Schemas } from "@/api/client";
import { text } from "@/i18n";
import { formatNumber } from "@/i18n/format";

type Usage = Schemas["UsageColumns"];

/** All the model was given: new, from the cache, and written to it; `null` when nothing was told. */
export function inputTokens(usage: Usage): number | null {
  const parts = [usage.tokens_fresh, usage.tokens_read, writtenTokens(usage)].filter(
    (n) => n !== null && n !== undefined,
  );
  return parts.length > 0 ? parts.reduce((sum, n) => sum + n, 0) : null;
}

export function writtenTokens(usage: Usage): number | null {
  const parts = [usage.tokens_write_5m, usage.tokens_write_1h, usage.tokens_write_other];
  const known = parts.filter((n) => n !== null && n !== undefined);
  return known.length > 0 ? known.reduce((sum, n) => sum + n, 0) : null;
}

/** Tokens in and out as people see them: what the upstream reported, else an estimate by what passed, and marked as one. */
export function shownTokens(usage: Usage): { input: string; output: string } {
  const shown = (reported?: number | null, observed?: number | null) =>
    reported == null && observed != null
      ? text("requests.about", { n: formatNumber(observed) })
      : formatNumber(reported);
  return {
    input: shown(inputTokens(usage), usage.observed_input),
    output: shown(usage.tokens_output, usage.observed_output),
  };
}
