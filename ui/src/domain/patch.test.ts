import { describe, expect, it } from "vitest";
import { patchBetween, withoutNulls } from "./patch";

describe("a patch", () => {
  it("holds only what is different", () => {
    const before = { name: "a", region: "cn", limits: { rpm: 5, tpm: null }, models: { map: { x: "y" } } };
    const after = { name: "a", region: null, limits: { rpm: 6, tpm: null }, models: { map: {} } };
    expect(patchBetween(before, after)).toEqual({ region: null, limits: { rpm: 6 }, models: { map: { x: null } } });
  });

  it("replaces lists whole", () => {
    expect(patchBetween({ credentials: [{ vault: "a/1" }] }, { credentials: [] })).toEqual({ credentials: [] });
  });
});

describe("a new object", () => {
  it("leaves out what is absent", () => {
    expect(withoutNulls({ a: null, b: { c: null, d: 1 }, e: [], f: undefined })).toEqual({ b: { d: 1 }, e: [] });
  });
});
