import { describe, expect, it } from "vitest";
import { alertTarget } from "@/testing/samples";
import { alertCheck, alertDraftOf, alertFileOf, EVENTS } from "./alert-draft";
import { patchBetween } from "./patch";

const problems = (draft: object, isNew: boolean) =>
  alertCheck(isNew)
    .safeParse(draft)
    .error?.issues.map((issue) => `${issue.path}: ${issue.message}`);

describe("an alert target's form", () => {
  it("leaves the stored address and secret alone unless others are typed", () => {
    const draft = alertDraftOf(alertTarget());
    const before = alertFileOf(draft);
    expect(before).toEqual({ name: "duty", template: "dingtalk", events: ["group_down"], debounce: null });
    expect(patchBetween(before, alertFileOf({ ...draft, secret: " SEC2 " }))).toEqual({ secret: "SEC2" });
    expect(patchBetween(before, alertFileOf({ ...draft, unsigned: true }))).toEqual({ secret: null });
  });

  it("lists what is told only if it is not everything", () => {
    const draft = alertDraftOf(undefined, "slack");
    expect([draft.template, draft.events]).toEqual(["slack", [...EVENTS]]);
    expect(alertFileOf(draft).events).toBeNull();
    const some = alertFileOf({ ...draft, everything: false, events: ["model_gone", "group_down"] });
    expect(some.events).toEqual(["group_down", "model_gone"]);
  });

  it("says what is missing or no address", () => {
    const draft = alertDraftOf(undefined);
    expect(problems(draft, true)).toEqual(["url: This is needed"]);
    expect(problems(draft, false)).toBeUndefined();
    expect(problems({ ...draft, url: "hook.example/x" }, true)).toEqual([
      "url: An address begins with http:// or https:// and has a host",
    ]);
    const wrong = { ...draft, url: "https://me:x@h", everything: false, events: [], debounce: "soon", name: "a/b" };
    expect(problems(wrong, true)?.map((problem) => problem.split(":")[0])).toEqual(
      expect.arrayContaining(["url", "events", "debounce", "name"]),
    );
  });
});
