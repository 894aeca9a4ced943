/** The word for the whole gateway. */
import type { Schemas } from "@/api/client";
import type { Kind } from "@/components/ui/StateMark.vue";

type StatusWord = Schemas["StatusWord"];

const KIND: Record<StatusWord, Kind> = { healthy: "healthy", degraded: "degraded", down: "down", stopping: "stopped" };

export function statusKind(word: StatusWord): Kind {
  return KIND[word];
}
