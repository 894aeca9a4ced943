import { flushPromises } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import { serveApi, show } from "@/testing/mount";
import { group, list, member } from "@/testing/samples";
import TierBoard from "./TierBoard.vue";

const members = [
  member({ upstream: 2, name: "relay-a", priority: 10 }),
  member({ upstream: 4, name: "relay-b", priority: 10 }),
  member({ upstream: 7, name: "direct-a", priority: 20 }),
];

async function press(name: string, key: string, more: KeyboardEventInit = {}) {
  const calls = serveApi({ "PUT /groups/12/members": { id: 12, revision: 6 }, "GET /upstreams": list([]) });
  await show(TierBoard, { group, members, shares: new Map([[2, 0.74]]), at: Date.now(), chosen: "" });
  const chip = [...document.querySelectorAll<HTMLElement>("button[draggable]")].find((b) =>
    b.textContent?.includes(name),
  );
  chip?.dispatchEvent(new KeyboardEvent("keydown", { key, altKey: true, bubbles: true, cancelable: true, ...more }));
  await flushPromises();
  return calls.find((c) => c.method === "PUT")?.body;
}

describe("the tiers of a group", () => {
  it("are told with state, share and weight in words", async () => {
    serveApi({ "GET /upstreams": list([]) });
    await show(TierBoard, { group, members, shares: new Map([[2, 0.74]]), at: Date.now(), chosen: "" });
    const text = document.body.textContent ?? "";
    expect(text).toContain("Tier 1");
    expect(text).toContain("74%");
    expect(text).toContain("weight 1");
    expect(text).toContain("Healthy");
  });

  it("are left by Alt and an arrow for the next one", async () => {
    expect(await press("relay-b", "ArrowDown")).toEqual({ upstream: "relay-b", priority: 20, revision: 5 });
    expect(await press("direct-a", "ArrowUp")).toEqual({ upstream: "direct-a", priority: 10, revision: 5 });
  });

  it("are split by Alt, Shift and down: a tier of its own between two", async () => {
    expect(await press("relay-b", "ArrowDown", { shiftKey: true })).toEqual({
      upstream: "relay-b",
      priority: 15,
      revision: 5,
    });
  });

  it("stay as they are where there is nowhere to go", async () => {
    expect(await press("direct-a", "ArrowDown")).toBeUndefined();
  });
});
