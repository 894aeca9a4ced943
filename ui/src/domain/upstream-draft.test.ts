import { describe, expect, it } from "vitest";
import type { Upstream } from "@/api/types";
import { patchBetween } from "./patch";
import { draftOf, duplicateOf, fileOf } from "./upstream-draft";

const upstream = {
  id: 2,
  name: "relay-a",
  revision: 1,
  base_url: "https://relay-a.example",
  protocol: "claude",
  tags: { main: "relay", labels: ["cn"] },
  models: { allow: ["claude-*"], map: { a: "b" } },
  headers: { "x-vendor": "***", "x-plain": "1" },
  credentials: [
    { id: 1, name: "relay-a/1", source: "vault", hint: "7Qd1", missing: false },
    { id: 3, name: "relay-a/2", source: { env: "RELAY_KEY" }, hint: null, missing: false },
  ],
  groups: [],
} as unknown as Upstream;

describe("an upstream's form", () => {
  it("changes nothing when nothing was typed", () => {
    const draft = draftOf(upstream);
    expect(patchBetween(fileOf(draft), fileOf(draftOf(upstream)))).toEqual({});
    expect(fileOf(draft).credentials).toEqual([{ vault: "relay-a/1" }, { env: "RELAY_KEY" }]);
  });

  it("sends a new key cleaned, and keeps the stored ones by name", () => {
    const draft = draftOf(upstream);
    draft.credentials = [...draft.credentials.slice(0, 1), { kind: "value", value: ' "sk-new" ' }];
    expect(fileOf(draft).credentials).toEqual([{ vault: "relay-a/1" }, { value: "sk-new" }]);
  });

  it("cannot copy a secret: a duplicate has only what is no secret", () => {
    const copy = duplicateOf(upstream, "relay-a-2");
    expect(copy.credentials).toEqual([{ kind: "env", env: "RELAY_KEY" }]);
    expect(copy.headers).toEqual([{ name: "x-plain", value: "1" }]);
  });
});
