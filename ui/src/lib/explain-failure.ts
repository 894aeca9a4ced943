/** A failure as a sentence: cause and remedy. */
import { ApiFailure } from "@/api/failure";
import { text, type MessageKey } from "@/i18n";
import { tellGateway } from "@/i18n/gateway";

const SENTENCES: Record<string, MessageKey> = {
  unreachable: "errors.unreachable",
  unexpected_answer: "errors.unexpected_answer",
  database_unavailable: "errors.database_unavailable",
  revision_conflict: "errors.revision_conflict",
  unauthorized: "errors.unauthorized",
};

/** Known situations in the person's language; anything else in the words of the gateway. */
export function explainFailure(failure: unknown): string {
  if (!(failure instanceof ApiFailure)) return failure instanceof Error ? failure.message : String(failure);
  const key = SENTENCES[failure.code];
  if (key) return text(key, { detail: failure.message });
  return tellGateway(failure.message);
}
