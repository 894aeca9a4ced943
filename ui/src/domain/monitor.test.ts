import { describe, expect, it } from "vitest";
import type { Monitor } from "@/api/types";
import { monitor, probe } from "@/testing/samples";
import { CELLS, cellsOf, cellsPath, lastProbe, sectionsOf, stateOf, type Shown } from "./monitor";

const NOW = Date.parse("2026-11-30T12:07:00Z");

function strip(cells: [at: string, ok: number, total: number][], last = probe()): Monitor["strip"] {
  const found = cells.map(([at, ok, total]) => ({ at: `2026-11-30T${at}:00Z`, ok, total }));
  const sum = (pick: (cell: { ok: number; total: number }) => number) => found.reduce((n, cell) => n + pick(cell), 0);
  return {
    monitor_id: 30,
    ok: sum((c) => c.ok),
    total: sum((c) => c.total),
    ttft_ms: 1,
    duration_ms: 2,
    cells: found,
    last,
  };
}

describe("the strip of a monitor", () => {
  it("is a day of quarters, the one under way last, coloured by share", () => {
    const cells = cellsOf(
      monitor({
        strip: strip([
          ["12:00", 1, 1],
          ["11:45", 95, 100],
          ["11:30", 94, 100],
          ["11:15", 80, 100],
          ["11:00", 79, 100],
        ]),
      }),
      NOW,
    );
    expect(cells).toHaveLength(CELLS);
    expect(cells.slice(-6).map((cell) => cell.state)).toEqual(["empty", "bad", "middling", "middling", "well", "well"]);
    expect(new Date(cells.at(-1)?.from ?? 0).toISOString()).toBe("2026-11-30T12:00:00.000Z");
  });

  it("is drawn worse as taller, one path for each state", () => {
    const cells = cellsOf(monitor({ strip: strip([["12:00", 0, 1]]) }), NOW);
    expect(cellsPath(cells, "bad")).toBe("M95.12 22v-22h.76v22z");
    expect(cellsPath(cells, "well")).toBe("");
    expect(cellsPath(cells, "empty").match(/M/g)).toHaveLength(95);
  });
});

describe("the state of a monitor", () => {
  const cooling = { state: "cooling", credentials_missing: false, remaining_ms: 1000 } as const;
  const exhausted = { state: "down", class: "exhausted", credentials_missing: false } as const;

  it("is what the last probe says, unless its upstream is out or it is switched off", () => {
    expect(stateOf(monitor())).toBe("no_data");
    const well = strip([["11:45", 20, 20]]);
    expect(stateOf(monitor({ strip: well }))).toBe("healthy");
    expect(stateOf(monitor({ strip: strip([["11:45", 19, 20]], probe({ class: "connect" })) }))).toBe("down");
    expect(stateOf(monitor({ strip: well, condition: cooling }))).toBe("degraded");
    expect(stateOf(monitor({ strip: well, condition: exhausted }))).toBe("down");
    expect(stateOf(monitor({ strip: well, condition: exhausted, active: false }))).toBe("off");
  });

  it("is degraded while the last hour was unsteady, and no longer", () => {
    expect(stateOf(monitor({ strip: strip([["11:00", 1, 3]]) }))).toBe("degraded");
    expect(
      stateOf(
        monitor({
          strip: strip([
            ["10:00", 0, 3],
            ["11:45", 3, 3],
          ]),
        }),
      ),
    ).toBe("healthy");
  });

  it("is that of a probe made here, until a newer one is known", () => {
    const mine = probe({ at: "2026-11-30T11:59:00Z", class: "server" });
    expect(stateOf(monitor({ strip: strip([["11:45", 1, 1]]) }), mine)).toBe("down");
    const newer = monitor({ strip: strip([["11:45", 1, 1]], probe({ at: "2026-11-30T12:01:00Z" })) });
    expect(lastProbe(newer, mine)?.class).toBe("ok");
  });
});

describe("monitors in order", () => {
  const shown = (id: number, tag: string | null, state: Shown["state"], name = "relay-a"): Shown => ({
    monitor: monitor({ id, tag, upstream_name: name }),
    state,
  });
  const ids = (items: readonly Shown[], held: number[] | null = null) =>
    sectionsOf(items, held).map((section) => [section.tag, ...section.items.map((item) => item.monitor.id)]);

  it("stand by tag, abnormal first, those without a tag last among equals", () => {
    const items = [
      shown(1, null, "healthy"),
      shown(2, "own", "healthy"),
      shown(3, "direct", "healthy", "b"),
      shown(4, "direct", "healthy", "a"),
      shown(5, "relay", "off"),
      shown(6, "relay", "degraded"),
      shown(7, "relay", "down"),
    ];
    expect(ids(items)).toEqual([
      ["relay", 7, 6, 5],
      ["direct", 4, 3],
      ["own", 2],
      [null, 1],
    ]);
  });

  it("stay where they are while somebody points at them; a new one comes last", () => {
    const items = [
      shown(1, "relay", "healthy"),
      shown(2, "relay", "down"),
      shown(3, "relay", "down"),
      shown(4, "own", "down"),
    ];
    expect(ids(items, [1, 4, 2])).toEqual([
      ["relay", 1, 2, 3],
      ["own", 4],
    ]);
  });
});
