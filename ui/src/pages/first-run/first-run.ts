/** What the first steps have made so far, so that one can go back and forth. */
import { reactive } from "vue";

export const STEPS = ["upstream", "group", "tools", "done"] as const;
export type Step = (typeof STEPS)[number];

export const firstRun = reactive({
  address: "",
  secret: "",
  name: "",
  upstream: null as { id: number; name: string } | null,
  /** A small model it answered with. */
  model: "",
  group: null as { id: number; name: string } | null,
  key: null as { id: number; name: string; secret: string } | null,
  /** The first request that was seen. */
  requestId: null as string | null,
});
