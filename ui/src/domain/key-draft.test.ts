import { describe, expect, it } from "vitest";
import type { Key } from "@/api/types";
import { keyCheck, keyDraftOf, keyFileOf } from "./key-draft";
import { patchBetween } from "./patch";

const key = { id: 3, name: "laptop", group: 12, revision: 4, prefix: "hg-lap", limits: { concurrency: 16, rpm: 600 } };

describe("a key's form", () => {
  it("sends a limit that was changed and takes away one that was emptied, leaving the others", () => {
    const before = keyDraftOf(key as unknown as Key, "coding");
    const after = { ...before, limits: { ...before.limits, concurrency: "", tpm: "4000000" } };
    expect(patchBetween(keyFileOf(before), keyFileOf(after))).toEqual({
      limits: { concurrency: null, tpm: 4_000_000 },
    });
  });

  it("refuses a limit of nought", () => {
    const draft = { ...keyDraftOf(undefined, "coding"), name: "x", limits: { concurrency: "0", rpm: "", tpm: "" } };
    expect(keyCheck([], 0).safeParse(draft).error?.issues[0]?.path).toEqual(["limits", "concurrency"]);
  });
});
