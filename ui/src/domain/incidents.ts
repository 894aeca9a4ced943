/** Turns of health as spans on a line of 24 hours, one line per upstream. */
import type { Schemas } from "@/api/client";

type Incident = Schemas["Incident"];

const DAY_MS = 86_400_000;

export interface IncidentSpan {
  /** Share of the day, 0 to 1, where it begins and how long it is. */
  from: number;
  length: number;
  kind: "out" | "rejected";
  at: string;
  reason: Incident["class"];
}

/** Lines in order of the latest incident; an upstream that is still out has a span up to now. */
export function incidentLines(incidents: readonly Incident[], now: number): Map<number, IncidentSpan[]> {
  const lines = new Map<number, IncidentSpan[]>();
  const open = new Map<number, IncidentSpan>();
  const begin = now - DAY_MS;
  const share = (at: string) => Math.min(1, Math.max(0, (Date.parse(at) - begin) / DAY_MS));
  for (const incident of [...incidents].sort((a, b) => a.at.localeCompare(b.at))) {
    const line = lines.get(incident.upstream) ?? [];
    lines.set(incident.upstream, line);
    const from = share(incident.at);
    const current = open.get(incident.upstream);
    if (incident.kind === "closed") {
      if (current) current.length = from - current.from;
      open.delete(incident.upstream);
      continue;
    }
    const span: IncidentSpan = {
      from,
      length: 0,
      kind: incident.kind === "opened" ? "out" : "rejected",
      at: incident.at,
      reason: incident.class,
    };
    if (span.kind === "out" && current) continue;
    if (span.kind === "out") open.set(incident.upstream, span);
    line.push(span);
  }
  for (const span of open.values()) span.length = 1 - span.from;
  return new Map(
    [...lines]
      .filter(([, spans]) => spans.length > 0)
      .sort(([, a], [, b]) => (b.at(-1)?.from ?? 0) - (a.at(-1)?.from ?? 0)),
  );
}
