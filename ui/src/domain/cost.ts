/** What an attempt's cost leaves out, in words. */
import type { Attempt } from "@/api/types";
import { text } from "@/i18n";

const PARTS = ["input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning"] as const;
const WHYS = ["estimated", "cut", "no_price", "not_reported"] as const;

function partWord(part: string): string {
  const known = PARTS.find((p) => p === part);
  return known ? text(`requests.part_${known}`) : part;
}

/** One sentence for each gap: `no_price.cache_read`, `not_reported.output`, `cut`, `estimated`. */
export function gapWords(gaps: readonly string[] | null | undefined): string[] {
  return (gaps ?? []).map((gap) => {
    const [why, part = ""] = gap.split(".");
    const known = WHYS.find((w) => w === why);
    return known ? text(`requests.cost_gap_${known}`, { part: partWord(part) }) : gap;
  });
}

/** Whether the price was found under another name than the one sent. */
export function isOtherName(attempt: Attempt): boolean {
  return !!attempt.price_entry && !attempt.price_rule && attempt.price_entry !== attempt.mapped_model;
}
