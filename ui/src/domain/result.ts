/** How a request ended, as it is shown. */
import type { Outcome } from "@/api/types";
import type { Kind } from "@/components/ui/StateMark.vue";
import { text } from "@/i18n";

interface Ended {
  outcome: Outcome;
  attempt_count: number;
}

const KIND: Record<Exclude<Outcome, "success">, Kind> = {
  failed: "down",
  unavailable: "down",
  unsupported: "down",
  client_error: "degraded",
  partial: "degraded",
  canceled: "stopped",
};

export function resultKind({ outcome, attempt_count }: Ended): Kind {
  if (outcome !== "success") return KIND[outcome];
  return attempt_count > 1 ? "degraded" : "healthy";
}

export function resultWord({ outcome, attempt_count }: Ended): string {
  if (outcome !== "success") return text(`requests.result_${outcome}`);
  return attempt_count > 1 ? text("requests.result_failover", {}, attempt_count - 1) : text("requests.result_direct");
}

/** The state of one attempt. */
export function attemptKind(outcome: Outcome): Kind {
  return outcome === "success" ? "healthy" : KIND[outcome];
}
