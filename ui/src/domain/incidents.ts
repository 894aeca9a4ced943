/** Turns of health, and of groups that leave a member out for its money, as spans on a line of 24 hours per upstream. */
import type { Schemas } from "@/api/client";

type Incident = Schemas["Incident"];

const DAY_MS = 86_400_000;
const KINDS = { opened: "out", credential_rejected: "rejected", withheld: "withheld" } as const;

export interface IncidentSpan {
  /** Share of the day, 0 to 1, where it begins and how long it is. */
  from: number;
  length: number;
  kind: "out" | "rejected" | "withheld";
  at: string;
  /** When it ended; absent: it lasts, or has no length. */
  until?: string;
  reason: Incident["class"];
  /** The group that does not use it, and why. */
  group?: Incident["group"];
  withheld?: Incident["withheld"];
}

/** Lines in order of the latest incident; an upstream that is still out has a span up to now. */
export function incidentLines(incidents: readonly Incident[], now: number): Map<number, IncidentSpan[]> {
  const lines = new Map<number, IncidentSpan[]>();
  const open = new Map<string, IncidentSpan>();
  const begin = now - DAY_MS;
  const share = (at: string) => Math.min(1, Math.max(0, (Date.parse(at) - begin) / DAY_MS));
  for (const incident of [...incidents].sort((a, b) => a.at.localeCompare(b.at))) {
    const line = lines.get(incident.upstream) ?? [];
    lines.set(incident.upstream, line);
    const from = share(incident.at);
    const place = `${incident.upstream} ${incident.group ?? ""}`;
    const current = open.get(place);
    if (incident.kind === "closed" || incident.kind === "returned") {
      if (current) {
        current.length = from - current.from;
        current.until = incident.at;
      }
      open.delete(place);
      continue;
    }
    const span: IncidentSpan = {
      from,
      length: 0,
      kind: KINDS[incident.kind],
      at: incident.at,
      reason: incident.class,
      group: incident.group,
      withheld: incident.withheld,
    };
    if (span.kind !== "rejected" && current) continue;
    if (span.kind !== "rejected") open.set(place, span);
    line.push(span);
  }
  for (const span of open.values()) span.length = 1 - span.from;
  return new Map(
    [...lines]
      .filter(([, spans]) => spans.length > 0)
      .sort(([, a], [, b]) => (b.at(-1)?.from ?? 0) - (a.at(-1)?.from ?? 0)),
  );
}
