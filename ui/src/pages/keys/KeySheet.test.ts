import { flushPromises } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import type { Key } from "@/api/types";
import { serveApi, show } from "@/testing/mount";
import { group, list } from "@/testing/samples";
import KeySheet from "./KeySheet.vue";

const key = {
  id: 3,
  name: "laptop",
  group: 12,
  revision: 4,
  prefix: "hg-lap",
  budget: { day: "5", month: null, total: null, currency: null },
  budget_state: [
    {
      span: "day",
      currency: "USD",
      spent: "4.8",
      limit: "5",
      share: 0.96,
      resets_at: "2026-12-01T00:00:00Z",
      other: [{ currency: "CNY", amount: "7" }],
      unpriced: 2,
      in_flight: 1,
    },
  ],
} as unknown as Key;

async function sheet() {
  const settings = { revision: 1, set: [], values: { time_zone: "UTC" }, defaults: {} };
  const answers = { "GET /upstreams": list([]), "GET /tags": list([]), "GET /settings": settings };
  const calls = serveApi({ ...answers, "PATCH /keys/3": { id: 3, revision: 5 } });
  await show(KeySheet, { edited: key, keys: [key], groups: [group] });
  await flushPromises();
  return calls;
}

describe("a key's budget", () => {
  it("is shown with what is used of it, when it begins anew and what does not count", async () => {
    await sheet();
    const page = document.body.textContent ?? "";
    expect(page).toContain("$4.80 of $5.00 · 96.0 %");
    expect(page).toMatch(
      /begins anew .*1 request under way may come on top.*2 attempts without a price.*¥7.00 beside it/s,
    );
    expect(document.querySelector<HTMLElement>(".budgets .bar .degraded")?.style.width).toBe("96%");
  });

  it("is changed without touching its other limits", async () => {
    const calls = await sheet();
    const [, month] = document.querySelectorAll<HTMLInputElement>("#key-form input[inputmode=decimal]");
    if (!month) throw new Error("no field for a month");
    month.value = "100";
    month.dispatchEvent(new Event("input"));
    await flushPromises();
    document.querySelector<HTMLFormElement>("#key-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await flushPromises();
    const sent = calls.find((call) => call.method === "PATCH");
    expect(sent?.body).toEqual({ revision: 4, budget: { month: "100" } });
  });
});
