import { flushPromises } from "@vue/test-utils";
import { describe, expect, it, vi } from "vitest";
import type { Costs } from "@/api/costs";
import { serveApi, show } from "@/testing/mount";
import CostsPage from "./CostsPage.vue";

// What it draws on is not there in a test; what it says stands beside it.
vi.mock("uplot", () => {
  class Picture {
    static paths = {};
    static tzDate = (at: Date) => at;
    destroy(): void {}
    setSize(): void {}
  }
  return { default: Picture };
});

const row = (over: object) => ({
  id: null,
  exists: true,
  attempts: 4,
  charged: 4,
  priced: 4,
  tokens_input: 1000,
  tokens_read: 200,
  tokens_output: 90,
  costs: [],
  ...over,
});

const comparison = {
  status: "warning",
  reason: "charged_exceeded",
  window: { from: "2026-11-29T14:00:00Z", to: "2026-11-30T14:00:00Z" },
  currency: "USD",
  snapshots: 3,
  pairs: 2,
  skipped: [["top_up", 1]],
  coverage: { requests: 60, priced: 59, share: "0.9833", time: "0.98" },
  counters: "key",
  balance: "account",
  multiplier: "1.2",
  multiplier_changed: false,
  list: { local: "2.02", local_priced: "2.02", reported: "2.05", deviation: "0.03", rate: "0.0146", tolerance: "0.5" },
  billing: {
    basis: "reported",
    list: "2.05",
    charged_from: "reported",
    charged: "3.70",
    expected: "2.46",
    observed_multiplier: "1.8",
    deviation: "1.24",
    rate: "0.504",
    tolerance: "0.246",
  },
};

const costs = {
  from: "2026-11-29T14:00:00Z",
  to: "2026-11-30T14:07:00Z",
  before_from: "2026-11-28T13:53:00Z",
  by: "model",
  totals: [
    { currency: "USD", amount: "21.07", before: "18.5" },
    { currency: "CNY", amount: "3.91", before: null },
  ],
  attempts: 12,
  charged: 12,
  priced: 11,
  rows: [
    row({ name: "claude-sonnet-5", costs: [{ currency: "USD", amount: "20.07", share: 0.9525 }] }),
    row({ name: "a/b c", costs: [{ currency: "USD", amount: "1", share: 0.0475 }] }),
    row({ name: "free-model", charged: 1, priced: 0 }),
  ],
  more: 0,
  step_ms: 3_600_000,
  points: ["2026-11-29T14:00:00Z", "2026-11-29T15:00:00Z"],
  lines: [{ currency: "USD", row: 0, amounts: ["20", "0.07"] }],
  unpriced: [{ upstream_id: 2, upstream: "relay-a", model: "free-model", sent: null, attempts: 1 }],
  tokens: [
    { upstream_id: 2, upstream: "relay-a", model: "m", attempts: 29, reported: 300, observed: 100, ratio: 3 },
    { upstream_id: 3, upstream: "relay-b", model: "m", attempts: 29, reported: 101, observed: 100, ratio: 1.01 },
  ],
  balances: [
    {
      currency: "USD",
      amount: "298.14",
      upstreams: [2],
      empty: [],
      oldest_at: "2026-11-30T14:00:00Z",
      days_left: 13.2,
      points: [
        { at: "2026-11-29T14:00:00Z", amount: "310" },
        { at: "2026-11-30T14:00:00Z", amount: "298.14" },
      ],
    },
  ],
  upstreams: [
    {
      upstream_id: 3,
      name: "relay-b",
      billing: { state: "ok", multiplier: null, manual: false, unlimited: true, exhausted: false },
      windows: null,
      multipliers: [],
    },
    {
      upstream_id: 2,
      name: "relay-a",
      billing: {
        state: "ok",
        multiplier: "1.2",
        price: "1.2",
        manual: true,
        unlimited: false,
        exhausted: false,
        collected_at: "2026-11-30T14:00:00Z",
        multiplier_at: "2026-11-30T10:00:00Z",
      },
      windows: [{ window: "24h", comparison }],
      multipliers: [
        { at: "2026-11-24T14:00:00Z", multiplier: "1.2" },
        { at: "2026-11-30T11:00:00Z", multiplier: "1.8" },
      ],
    },
  ],
} as unknown as Costs;

const part = {
  upstream_id: null,
  upstream: null,
  model: "claude-sonnet-5",
  sent: "sonnet",
  price: "claude-sonnet-5",
  attempts: 12,
  list: "10",
  charged: "8",
  multiplier_unknown: false,
};
const member = (over: object) => ({
  list: "10",
  multiplier_unknown: false,
  share: 1,
  success: 1,
  parts: [part],
  ...over,
});
const elsewhere = {
  from: "2026-11-29T14:00:00Z",
  to: "2026-11-30T14:07:00Z",
  groups: [
    {
      group_id: 1,
      name: "coding",
      attempts: 12,
      currency: "USD",
      was: { list: "20", charged: "16", multiplier_unknown: false },
      was_parts: [part],
      members: [
        member({ upstream_id: 2, name: "relay-a", charged: "8", success: 0.968 }),
        member({ upstream_id: 3, name: "relay-b", charged: "24", multiplier_unknown: true }),
        member({ upstream_id: 4, name: "direct", charged: "1", share: 0.25 }),
      ],
    },
  ],
};
const settings = { revision: 1, set: [], values: { time_zone: "UTC" }, defaults: {} };

async function page(at = "/costs", answer: unknown = costs) {
  const calls = serveApi({
    "GET /costs": answer,
    "GET /costs/elsewhere": answer === costs ? elsewhere : { ...elsewhere, groups: [] },
    "GET /settings": settings,
    "GET /costs/2/figures": { from: costs.from, to: costs.to, pairs: [], more: 0 },
    "PUT /upstreams/2/billing/multiplier": {},
    "POST /upstreams/2/billing/refresh": { error: null },
    "POST /upstreams/3/billing/refresh": { error: "it did not answer" },
  });
  await show(CostsPage, {}, at);
  await flushPromises();
  await flushPromises();
  return calls;
}
const textOf = (selector: string) => document.querySelector(selector)?.textContent ?? "";
const links = () => [...document.querySelectorAll<HTMLAnchorElement>("a")].map((a) => decodeURIComponent(a.href));

describe("the costs page", () => {
  it("tells every currency apart and how much is priced", async () => {
    await page();
    const tiles = textOf(".tiles");
    expect(tiles).toMatch(/\$21\.07.*\$18\.50 in the time before.*¥3\.91.*91\.6.*1 call without a full price/s);
    expect(tiles).toMatch(/\$298\.14.*at 1 upstream.*lasts about 13 days.*relay-b/s);
  });

  it("leads from a figure to the requests of exactly its time", async () => {
    await page();
    const time = "from=2026-11-29T14:00:00Z&to=2026-11-30T14:07:00Z";
    expect(links().some((href) => href.includes(`${time}&model=claude-sonnet-5`))).toBe(true);
    // A name is a value of a list in the address, so its own separators are escaped once more.
    expect(links().some((href) => href.includes(`${time}&model=a%2Fb%20c`))).toBe(true);
    expect(links().some((href) => href.includes(`${time}&model=free-model&upstream=2`))).toBe(true);
  });

  it("shows the most suspicious first, in words, and what is still being compared", async () => {
    await page();
    const rows = [...document.querySelectorAll("tr[data-id]")].map((tr) => tr.textContent ?? "");
    expect(rows[0]).toMatch(/relay-a.*\+50 %.*set by hand.*×1\.8.*Charged more than stated.*its own list price/s);
    expect(rows[1]).toMatch(/relay-b.*Being compared/s);
    expect(document.querySelector("tr[data-id='2'] .st.degraded svg")).not.toBeNull();
  });

  it("marks reported tokens that are far above what passed through", async () => {
    await page();
    const ratios = [...document.querySelectorAll("[aria-label^='Output tokens'] tbody tr")];
    expect(ratios.map((tr) => [tr.textContent?.includes("×"), tr.querySelector(".degraded") !== null])).toEqual([
      [true, true],
      [true, false],
    ]);
  });

  it("tells where the same traffic would be cheaper, what is against it, and who could not have served it all", async () => {
    await page();
    const panel = [...document.querySelectorAll(".panel")].find((one) => /elsewhere/.test(one.textContent ?? ""));
    const rows = [...(panel?.querySelectorAll("li") ?? [])].map((li) => li.textContent ?? "");
    expect(rows[0]).toMatch(/relay-a.*\$8\.00.*50 % cheaper · 96\.8 % answered/s);
    expect(rows[1]).toMatch(/As it was.*\$16\.00.*\$20\.00 at list price/s);
    expect(rows[2]).toMatch(/relay-b.*\$24\.00.*50 % dearer · multiplier unknown, taken as 1/s);
    expect(rows[3]).toMatch(/direct.*\$1\.00.*could have served 25 % of it/s);
    document.querySelector<HTMLButtonElement>("[data-elsewhere='2']")?.click();
    await flushPromises();
    await flushPromises();
    const part = textOf("[data-part]");
    expect(part).toMatch(/claude-sonnet-5 → sonnet.*12.*claude-sonnet-5.*\$10\.00.*\$8\.00/s);
    const time = "from=2026-11-29T14:00:00Z&to=2026-11-30T14:07:00Z";
    expect(links().some((href) => href.includes(`${time}&group=1&model=claude-sonnet-5`))).toBe(true);
    expect(links().some((href) => href.includes("/settings/prices?model=sonnet"))).toBe(true);
  });

  it("opens an upstream from the address, with its evidence and its multiplier", async () => {
    const calls = await page("/costs/2?window=24h");
    const sheet = () => textOf(".sheet");
    expect(sheet()).toMatch(/3, 2 pairs compared.*topped up \(1\).*this key alone.*the whole account/s);
    const field = document.querySelector<HTMLInputElement>(".sheet input[inputmode=decimal]");
    if (!field) throw new Error("no field");
    field.value = "nought";
    field.dispatchEvent(new Event("input"));
    document.querySelector<HTMLFormElement>(".sheet form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await flushPromises();
    expect(sheet()).toContain("A multiplier is a number above 0");
    field.value = "1.5";
    field.dispatchEvent(new Event("input"));
    document.querySelector<HTMLFormElement>(".sheet form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await flushPromises();
    expect(calls.find((call) => call.method === "PUT")?.body).toEqual({ multiplier: "1.5" });
  });

  it("says what to do while there is nothing", async () => {
    const nothing = { ...costs, totals: [], attempts: 0, charged: 0, priced: 0, rows: [], lines: [], balances: [] };
    await page("/costs", { ...nothing, unpriced: [], tokens: [], upstreams: [] });
    const all = document.body.textContent ?? "";
    expect(all).toContain("No requests in this time");
    expect(all).toContain("No upstream is asked for its billing");
    expect(all).toContain("Every call of this time has a full price.");
    expect(all).toContain("Nothing to compare yet");
  });
});
