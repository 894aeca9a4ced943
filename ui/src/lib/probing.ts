/** Probing by hand: which monitors are being asked, and what the last answer of each was. */
import { useQueryClient } from "@tanstack/vue-query";
import { reactive, readonly } from "vue";
import { probeMonitor } from "@/api/monitors";
import type { Monitor, Probe } from "@/api/types";
import { isWell } from "@/domain/monitor";
import { text } from "@/i18n";
import { explainFailure } from "@/lib/explain-failure";
import { toast } from "@/state/toast";

/** The gateway asks as many at a time by itself. */
const AT_ONCE = 4;

const running = reactive(new Set<number>());
const results = reactive(new Map<number, Probe>());

export function useProbing() {
  const client = useQueryClient();

  async function ask(id: number): Promise<Probe | null> {
    if (running.has(id)) return null;
    running.add(id);
    try {
      const probe = await probeMonitor(id);
      results.set(id, probe);
      return probe;
    } finally {
      running.delete(id);
      for (const name of ["monitors", "probes"]) void client.invalidateQueries({ queryKey: [name] });
    }
  }

  /** Asks one; the answer is shown where the monitor is. */
  async function probe(id: number): Promise<void> {
    await ask(id).catch((why: unknown) => toast(explainFailure(why), { kind: "down" }));
  }

  /** Asks several, a few at a time, and says how it went. */
  async function probeAll(monitors: readonly Pick<Monitor, "id">[]): Promise<void> {
    const waiting = monitors.map((monitor) => monitor.id);
    const counts = { well: 0, ill: 0 };
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const result = await ask(id).catch(() => undefined);
        if (result === null) continue;
        if (result && isWell(result)) counts.well += 1;
        else counts.ill += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    toast(text("monitor.probed_all", counts), { kind: counts.ill > 0 ? "degraded" : "healthy" });
  }

  return { running: readonly(running), results: readonly(results), probe, probeAll };
}
