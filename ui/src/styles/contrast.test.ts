import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** The tokens of both themes; what the dark one does not set it has from the light one. */
function tokens(): { light: Map<string, string>; dark: Map<string, string> } {
  const css = readFileSync(join(process.cwd(), "src/styles/tokens.css"), "utf8");
  const block = (start: string) => {
    const from = css.indexOf(start);
    return new Map(
      [...css.slice(from, css.indexOf("\n}", from)).matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(
        ([, name = "", hex = ""]) => [name, hex],
      ),
    );
  };
  const light = block(':root[data-theme="light"]');
  return { light, dark: new Map([...light, ...block(':root[data-theme="dark"]')]) };
}

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const linear = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const STATES = ["healthy", "degraded", "down", "stopped", "info"];
const GROUNDS = ["bg", "surface", "surface-2"];
const TEXT = 4.5;
const MARK = 3;

/** Foreground, background, and the contrast it needs (WCAG 2.2 AA). */
const PAIRS: [string, string, number][] = [
  ...["text-1", "text-2", "text-3"].flatMap((text) =>
    [...GROUNDS, "surface-3", "accent-soft"].map((ground): [string, string, number] => [text, ground, TEXT]),
  ),
  ...["text-1", "text-3"].flatMap((text) =>
    ["diff-add", "diff-del"].map((ground): [string, string, number] => [text, ground, TEXT]),
  ),
  ...STATES.flatMap((state): [string, string, number][] => [
    ...[...GROUNDS, `${state}-soft`, "accent-soft"].map((ground): [string, string, number] => [state, ground, TEXT]),
    ...["bg", "surface", `${state}-soft`, "accent-soft"].map((ground): [string, string, number] => [
      `${state}-mark`,
      ground,
      MARK,
    ]),
    ["text-1", `${state}-soft`, TEXT],
    ["text-2", `${state}-soft`, TEXT],
  ]),
  ...[...GROUNDS, "accent-soft"].map((ground): [string, string, number] => ["accent-text", ground, TEXT]),
  ["on-accent", "accent", TEXT],
  ["on-accent", "accent-hover", TEXT],
  ...["bg", "surface", "accent-soft"].map((ground): [string, string, number] => ["border-control", ground, MARK]),
  ...GROUNDS.map((ground): [string, string, number] => ["focus", ground, MARK]),
  ...[1, 2, 3, 4, 5, 6].map((n): [string, string, number] => [`chart-${n}`, "surface", MARK]),
];

describe.each(Object.entries(tokens()))("the %s theme", (_, colours) => {
  it.each(PAIRS)("shows %s on %s", (front, ground, needed) => {
    const [a, b] = [colours.get(front), colours.get(ground)];
    expect(a && b, `${front} and ${ground} are tokens`).toBeTruthy();
    expect(contrast(a ?? "", b ?? "")).toBeGreaterThanOrEqual(needed);
  });
});

describe("styles", () => {
  it("take their colours from the tokens", () => {
    const files = ["base", "shell", "controls", "state", "table", "overlay", "content", "theme"];
    const named = files.filter((name) =>
      /#[0-9a-f]{3,8}\b/i.test(readFileSync(join(process.cwd(), `src/styles/${name}.css`), "utf8")),
    );
    expect(named).toEqual([]);
  });
});
