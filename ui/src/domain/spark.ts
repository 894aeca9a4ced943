/** Series as paths of SVG, one unit to the right per value; unknown values leave a gap. */

/** Stretches of known values, each with where it begins. */
function stretches(values: readonly (number | null)[]): { from: number; known: number[] }[] {
  const found: { from: number; known: number[] }[] = [];
  let open: { from: number; known: number[] } | null = null;
  values.forEach((value, at) => {
    if (value === null) open = null;
    else if (open) open.known.push(value);
    else found.push((open = { from: at, known: [value] }));
  });
  return found;
}

/** Half a pixel below the edge, so that a line at the top is not cut. */
const EDGE = 1;

function points({ from, known }: { from: number; known: number[] }, most: number, height: number): string[] {
  // A single value has no line of its own: it is drawn as a short one.
  const drawn = known.length === 1 ? [...known, ...known] : known;
  const step = known.length === 1 ? 0.5 : 1;
  return drawn.map((value, i) => {
    const y = height - (value / most) * (height - EDGE);
    return `${from + i * step} ${Math.round(y * 100) / 100}`;
  });
}

export function linePath(values: readonly (number | null)[], most: number, height: number): string {
  return stretches(values)
    .map((stretch) => `M${points(stretch, most, height).join("L")}`)
    .join("");
}

export function areaPath(values: readonly (number | null)[], most: number, height: number): string {
  return stretches(values)
    .map((stretch) => {
      const drawn = points(stretch, most, height);
      const last = drawn.at(-1)?.split(" ")[0] ?? "0";
      return `M${stretch.from} ${height}L${drawn.join("L")}L${last} ${height}Z`;
    })
    .join("");
}

/** The item of which a figure is largest; the first of several. */
export function largest<T>(items: readonly T[], figure: (item: T) => number | null | undefined): T | undefined {
  let most: T | undefined;
  for (const item of items) {
    if ((figure(item) ?? -Infinity) > (most === undefined ? -Infinity : (figure(most) ?? -Infinity))) most = item;
  }
  return most;
}
