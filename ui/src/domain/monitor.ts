/** Monitors as they are shown: state, order, and the day as quarters of an hour. */
import type { Monitor, Probe } from "@/api/types";
import { conditionKind, isOut } from "./condition";
import type { Kind } from "@/components/ui/StateMark.vue";

export type MonitorState = "down" | "degraded" | "no_data" | "healthy" | "off";

/** Abnormal first. */
export const MONITOR_STATES: readonly MonitorState[] = ["down", "degraded", "no_data", "healthy", "off"];

const KIND: Record<MonitorState, Kind> = {
  down: "down",
  degraded: "degraded",
  no_data: "stopped",
  healthy: "healthy",
  off: "stopped",
};

const QUARTER_MS = 15 * 60_000;
export const CELLS = 96;
const WELL = 0.95;
const MIDDLING = 0.8;
/** So many quarters say how a monitor is now. */
const RECENT = 4;

export type CellState = "well" | "middling" | "bad" | "empty";

export interface Cell {
  from: number;
  ok: number;
  total: number;
  state: CellState;
}

function stateOfCell(ok: number, total: number): CellState {
  if (total === 0) return "empty";
  const share = ok / total;
  return share >= WELL ? "well" : share >= MIDDLING ? "middling" : "bad";
}

/** The last 24 hours, oldest first, with the quarter that is under way as the last. */
export function cellsOf(monitor: Pick<Monitor, "strip">, now: number): Cell[] {
  const counts = new Map(monitor.strip?.cells.map((cell) => [Date.parse(cell.at), cell]));
  const last = quarterOf(now);
  return Array.from({ length: CELLS }, (_, i) => {
    const from = last - (CELLS - 1 - i) * QUARTER_MS;
    const { ok, total } = counts.get(from) ?? { ok: 0, total: 0 };
    return { from, ok, total, state: stateOfCell(ok, total) };
  });
}

/** The quarter of an hour a moment is in. */
export const quarterOf = (now: number): number => Math.floor(now / QUARTER_MS) * QUARTER_MS;

/** How tall a quarter is drawn: worse is taller, so that it does not rest on colour. */
export const CELL_HEIGHT: Record<CellState, number> = { empty: 2, well: 10, middling: 16, bad: 22 };

/** The bars of one state as one path, in a box of 96 by the tallest. */
export function cellsPath(cells: readonly Cell[], state: CellState): string {
  const height = CELL_HEIGHT[state];
  const bar = (i: number) => `M${i + 0.12} ${CELL_HEIGHT.bad}v${-height}h.76v${height}z`;
  return cells.map((cell, i) => (cell.state === state ? bar(i) : "")).join("");
}

export const cellEnd = (cell: Cell): number => cell.from + QUARTER_MS;

/** A share of successes; `null` without any result. */
export function shareOf(counts: { ok: number; total: number } | null | undefined): number | null {
  return counts && counts.total > 0 ? counts.ok / counts.total : null;
}

/** The time that counts: to the first output of a stream, otherwise of the whole answer. */
export function latencyOf(times: { ttft_ms?: number | null; duration_ms?: number | null }): number | null {
  return times.ttft_ms ?? times.duration_ms ?? null;
}

export const isWell = (probe: Pick<Probe, "class">): boolean => probe.class === "ok";

/** The newest probe: the one just made here, if the list does not have it yet. */
export function lastProbe(monitor: Pick<Monitor, "strip">, own: Probe | undefined): Probe | undefined {
  const known = monitor.strip?.last;
  if (!own || !known) return own ?? known;
  return Date.parse(own.at) > Date.parse(known.at) ? own : known;
}

/** Milliseconds for which its model, the only one told of, is left out. */
export function excludedMs(monitor: Pick<Monitor, "health">): number | null {
  return monitor.health.models[0]?.excluded_ms ?? null;
}

/** What is switched off, then what keeps requests away, then what the probes say. */
export function stateOf(monitor: Monitor, own?: Probe): MonitorState {
  if (!monitor.active) return "off";
  if (isOut(monitor.condition)) return conditionKind(monitor.condition) === "down" ? "down" : "degraded";
  const last = lastProbe(monitor, own);
  if (!last) return "no_data";
  if (!isWell(last)) return "down";
  if (excludedMs(monitor)) return "degraded";
  const recent = cellsOf(monitor, Date.parse(last.at)).slice(-RECENT);
  const [ok, total] = recent.reduce(([ok, total], cell) => [ok + cell.ok, total + cell.total], [0, 0]);
  return total > 0 && stateOfCell(ok, total) !== "well" ? "degraded" : "healthy";
}

export function monitorKind(state: MonitorState): Kind {
  return KIND[state];
}

export interface Shown {
  monitor: Monitor;
  state: MonitorState;
}

export interface Section {
  /** The main tag; `null` without one. */
  tag: string | null;
  items: Shown[];
}

const severity = (item: Shown): number => MONITOR_STATES.indexOf(item.state);

/**
 * By main tag, abnormal first; sections too. While a person points at the cards (`held`: their ids as they stood) nothing
 * moves: what is new comes last.
 */
export function sectionsOf(items: readonly Shown[], held: readonly number[] | null): Section[] {
  const place = new Map(held?.map((id, i) => [id, i]));
  const at = ({ monitor }: Shown) => place.get(monitor.id) ?? place.size;
  const byName = (a: Shown, b: Shown) =>
    a.monitor.upstream_name.localeCompare(b.monitor.upstream_name) || a.monitor.model.localeCompare(b.monitor.model);
  const sorted = [...items].sort((a, b) => (held ? at(a) - at(b) : severity(a) - severity(b)) || byName(a, b));
  const sections = new Map<string | null, Shown[]>();
  for (const item of sorted) {
    const tag = item.monitor.tag ?? null;
    sections.set(tag, [...(sections.get(tag) ?? []), item]);
  }
  const found = [...sections].map(([tag, items]) => ({ tag, items }));
  const worst = (section: Section) => Math.min(...section.items.map(severity));
  const tagOrder = (a: Section, b: Section) =>
    Number(a.tag === null) - Number(b.tag === null) || (a.tag ?? "").localeCompare(b.tag ?? "");
  return held ? found : found.sort((a, b) => worst(a) - worst(b) || tagOrder(a, b));
}

/** How many there are of each state. */
export function countsOf(items: readonly Shown[]): Record<MonitorState, number> {
  const counts = { down: 0, degraded: 0, no_data: 0, healthy: 0, off: 0 };
  for (const item of items) counts[item.state] += 1;
  return counts;
}
