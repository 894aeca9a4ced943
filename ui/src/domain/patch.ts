/** JSON merge patches between two objects in the words of the configuration file. */
type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Only what is different, so that somebody else's change of another field stays. */
export function patchBetween(before: Json, after: Json): Json {
  const patch: Json = {};
  for (const name of Object.keys({ ...before, ...after })) {
    const [old, next] = [before[name], after[name]];
    if (same(old, next)) continue;
    if (isObject(old) && isObject(next)) patch[name] = patchBetween(old, next);
    else patch[name] = next === undefined ? null : next;
  }
  return patch;
}

/** Without what is absent: the body of a new object. */
export function withoutNulls(object: Json): Json {
  const kept: Json = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    kept[name] = isObject(value) ? withoutNulls(value) : value;
  }
  return kept;
}
