/** Who changed something, as the gateway keeps it, in the person's language. */
import type { Text } from ".";

const KNOWN = {
  window: "common.author_window",
  browser: "common.author_browser",
  "admin api": "common.author_api",
  apply: "common.author_file",
  "serve --apply": "common.author_file_at_start",
  "first start": "common.author_first_start",
} as const;

export function authorText(t: Text, author: string): string {
  const [name = "", address] = author.split(" at ");
  if (!Object.hasOwn(KNOWN, name)) return author;
  const known = t(KNOWN[name as keyof typeof KNOWN]);
  return address ? t("common.author_at", { author: known, address }) : known;
}
