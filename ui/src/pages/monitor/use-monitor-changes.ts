/** Switching a monitor and removing it, each with a way back. */
import { useChange } from "@/api/change";
import { changeMonitor, deleteMonitor, restoreMonitor } from "@/api/monitors";
import type { Monitor } from "@/api/types";
import { useText } from "@/i18n";
import { explainFailure } from "@/lib/explain-failure";
import { toast } from "@/state/toast";

export function monitorName(monitor: Pick<Monitor, "upstream_name" | "model">): string {
  return `${monitor.upstream_name} · ${monitor.model}`;
}

export function useMonitorChanges() {
  const t = useText();
  const change = useChange(changeMonitor);
  const drop = useChange(deleteMonitor);
  const restore = useChange(restoreMonitor);

  /** The revision afterwards, unless it was refused. */
  async function switchTo(monitor: Monitor, on: boolean): Promise<number | null> {
    const { id, revision } = monitor;
    try {
      const saved = await change.run(id, revision, { enabled: on });
      toast(t(on ? "common.switched_on" : "common.switched_off", { name: monitorName(monitor) }), {
        undo: () => change.run(id, saved.revision, { enabled: !on }),
      });
      return saved.revision;
    } catch (why) {
      toast(explainFailure(why), { kind: "down" });
      return null;
    }
  }

  async function remove(monitor: Monitor): Promise<void> {
    const { id, revision } = monitor;
    try {
      await drop.run(id, revision);
      toast(t("common.deleted", { name: monitorName(monitor) }), { undo: () => restore.run(id) });
    } catch (why) {
      toast(explainFailure(why), { kind: "down" });
    }
  }

  return { switchTo, remove };
}
