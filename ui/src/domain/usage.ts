/** Tokens of a request. */
import type { Schemas } from "@/api/client";

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
