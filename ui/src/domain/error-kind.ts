/** A recorded kind of error in the person's language where it is one of the known classes. */
import { i18n, text, type MessageKey } from "@/i18n";

/** `server.503` begins with its class. */
export function errorKindWord(kind: string): string {
  const key = `reasons.${kind.split(/[.:/]/)[0] ?? ""}`;
  return i18n.global.te(key as never) ? text(key as MessageKey) : kind;
}
