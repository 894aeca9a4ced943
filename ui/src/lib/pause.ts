/** Pausing the gateway: new requests are refused until it is resumed. */
import { computed } from "vue";
import { pauseGateway, useStatus } from "@/api/status";
import { useChange } from "@/api/change";
import { text } from "@/i18n";
import { explainFailure } from "@/lib/explain-failure";
import { toast } from "@/state/toast";

export function usePause() {
  const { data: status } = useStatus();
  const change = useChange(pauseGateway);
  const isPaused = computed(() => status.value?.paused === true);

  async function setPaused(paused: boolean): Promise<void> {
    try {
      await change.run(paused);
      toast(text(paused ? "nav.paused" : "nav.resumed"), { undo: () => change.run(!paused) });
    } catch (why) {
      toast(explainFailure(why), { kind: "down" });
    }
  }

  return { isPaused, setPaused };
}
