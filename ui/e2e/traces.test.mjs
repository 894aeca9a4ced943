// Every number of the Costs page is followed by a click to the rows it came from, and both say the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forget, history } from "./history.mjs";
import { assertAccessible, assertFits, until } from "./steps.mjs";
import { stage } from "./stage.mjs";
import { someBilling, someCharges } from "./world.mjs";

let world, page;
stage((made) => ({ world, page } = made));

async function open(at) {
  await page.goto("about:blank");
  await page.goto(`${world.ui}${at}`);
}

const rounded = (text) => Math.round(Number(String(text).replace(/[^\d.-]/g, "")) * 1e9);

/** Clicks, waits for the list that it leads to, hands its stats row over, and goes back. */
async function follow(link, check) {
  await link.click();
  await page.waitForURL(/#\/requests\?/);
  await page.locator(".fchip.on").first().waitFor();
  await check({
    calls: async (kind) => Number((await page.locator(`[data-calls=${kind}]`).innerText()).replace(/\D/g, "")),
    cost: async () => rounded(await page.locator(".stats dd [title$=' USD']").last().getAttribute("title")),
    compared: () =>
      page.$$eval(".stats dd", (all) =>
        all.map((dd) => [...dd.querySelectorAll("[title]")].map((one) => Number(one.title.replace(/\D/g, "")))),
      ),
  });
  await page.goBack();
  await page.locator(".tiles").waitFor();
}

/** Until the stats row says so: it comes a moment after the list. */
async function says(read, expected, what) {
  let last;
  for (let n = 0; n < 60; n += 1) {
    last = await read().catch((why) => why.message);
    if (last === expected) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(last, expected, what);
}

test("the tiles lead to the time they name, to the time before, and to what has no price", async () => {
  await history(world, { count: 900 });
  for (let n = 0; n < 2; n += 1) await world.ask({ model: "nothing-such", stream: false });
  await open("#/costs?window=1h");
  const total = page.locator("[data-amount]").first();
  await total.waitFor();
  const amount = rounded(await total.getAttribute("data-amount"));
  await follow(total, ({ cost }) => says(cost, amount, "the total"));
  const before = page.locator("[data-before]").first();
  const earlier = rounded(await before.getAttribute("data-before"));
  assert.notEqual(earlier, amount);
  await follow(before, ({ cost }) => says(cost, earlier, "the time before"));
  const missing = page.locator(".tiles a.below", { hasText: "without a full price" });
  assert.match(await missing.innerText(), /2 calls/);
  await follow(missing, async ({ calls }) => {
    await says(() => calls("unpriced"), 2, "calls without a price");
    assert.ok(await page.locator(".fchip.on", { hasText: "without a full price" }).isVisible());
  });
});

for (const by of ["model", "key", "group", "upstream"]) {
  test(`spend by ${by} leads to requests that cost the same`, async () => {
    await open(`#/costs?by=${by}`);
    const row = page.locator("a.sp:has(.n[title])").first();
    await row.waitFor();
    const amount = rounded(await row.locator(".n[title]").first().getAttribute("title"));
    await follow(row, ({ cost }) => says(cost, amount, by));
  });
}

for (const [what, count] of [
  ["model", 5],
  ["key", 7],
  ["group", 9],
]) {
  test(`spend without a ${what} leads to the requests that name none`, async () => {
    await forget(world, what, count);
    await open(`#/costs?by=${what}`);
    const row = page.locator("a.sp", { hasText: `no ${what}` });
    await row.waitFor();
    const amount = rounded(await row.locator(".n[title]").first().getAttribute("title"));
    await follow(row, async ({ cost, calls }) => {
      await says(cost, amount, what);
      await says(() => calls("with_amount"), count, "calls");
      assert.ok(await page.locator(".fchip.on", { hasText: `a ${what}` }).isVisible());
    });
  });
}

test("what has no price, and tokens counted twice, lead to exactly these calls", async () => {
  await open("#/costs");
  const unpriced = page.locator("[aria-label='Without a full price'] tbody tr", { hasText: "nothing-such" }).first();
  await unpriced.waitFor();
  const count = Number(await unpriced.locator("a").innerText());
  await follow(unpriced.locator("a"), ({ calls }) => says(() => calls("unpriced"), count, "unpriced"));
  const tokens = page.locator("[aria-label^='Output tokens'] tbody tr").first();
  const counts = await tokens.locator("td[title]").evaluateAll((all) => all.slice(-2).map((td) => td.title));
  const expected = counts.map((text) => Number(text.replace(/\D/g, "")));
  await follow(tokens.locator("a").first(), ({ compared }) =>
    says(async () => (await compared()).some((two) => two.join() === expected.join()), true, `tokens ${expected}`),
  );
});

test("the same traffic elsewhere opens into models, calls and the prices used", async () => {
  await open("#/costs");
  await page.locator("[data-elsewhere=was]").click();
  const part = page.locator("[data-part]").first();
  await part.waitFor();
  const count = Number((await part.locator("a").first().innerText()).replace(/\D/g, ""));
  await follow(part.locator("a").first(), ({ calls }) => says(() => calls("with_amount"), count, "calls"));
  await page.locator("[data-elsewhere]:not([data-elsewhere=was])").first().click();
  const elsewhere = page.locator("[data-part]").first();
  await until(page, () => document.querySelectorAll("[data-part]").length > 0);
  const calls = Number((await elsewhere.locator("a").first().innerText()).replace(/\D/g, ""));
  await follow(elsewhere.locator("a").first(), (list) => says(() => list.calls("with_amount"), calls, "calls"));
  await assertAccessible(page, "the costs page with parts");
  await assertFits(page, "the costs page with parts");
  await page.locator("[data-part] a").nth(1).click();
  await page.waitForURL(/settings\/prices\?model=/);
});

test("a verdict's figures are the sums of its readings, and each of these leads to its calls", async () => {
  // Calls of ours between the readings, so that there is something to compare with; a few, since a draw decides who serves.
  const calls = async () => {
    for (let n = 0; n < 6; n += 1) await world.ask({ model: "claude-sonnet-5", stream: false });
  };
  const [relay] = await someBilling(world, calls);
  await open(`#/costs/${relay}`);
  const sums = page.locator("tr[data-sums]");
  await sums.waitFor();
  // The comparison may be made anew meanwhile.
  const agree = async () => {
    const [, ...cells] = await sums.locator("td").allInnerTexts();
    const facts = await page.locator(".sheet dl.kv dd").allInnerTexts();
    return [cells[2], cells[4], cells[5]].every((cell) => facts.some((fact) => fact.startsWith(cell)));
  };
  await says(agree, true, "sums are among the facts");
  const row = page.locator(".figures tbody tr").last();
  const ours = Number(await row.locator("a").first().innerText());
  assert.ok(ours > 0, "calls of ours between two readings");
  await assertAccessible(page, "readings");
  await row.locator("a").first().click();
  await page.waitForURL(/ended_from=/);
  const read = async () => Number(await page.locator("[data-calls=charged]").innerText());
  await says(read, ours, "our calls between two readings");
});

test("a balance opens into the upstreams it is at, and these into their readings", async () => {
  await open("#/costs");
  await page.locator(".tile", { hasText: "Balance, USD" }).click();
  const rows = page.locator(".sheet table").first().locator("tbody tr");
  await rows.first().waitFor();
  const amounts = await rows.locator("td.n [title]").evaluateAll((all) => all.map((one) => one.title));
  const total = await page.locator(".tile", { hasText: "Balance, USD" }).locator(".figure").getAttribute("title");
  assert.equal(
    amounts.reduce((sum, one) => sum + rounded(one), 0),
    rounded(total),
  );
  await assertAccessible(page, "a balance");
  await rows.locator("a").first().click();
  await page.locator(".figures tbody tr").first().waitFor();
});

test("a multiplier set by hand is a step of the history with its author", async () => {
  const [relay] = (await world.admin("GET", "/upstreams")).items.filter((one) => one.name === "relay-a");
  await world.admin("PUT", `/upstreams/${relay.id}/billing/multiplier`, { multiplier: "2.5" });
  await open(`#/costs/${relay.id}`);
  const step = page.locator("[data-steps] li").first();
  await step.waitFor();
  assert.match(await step.innerText(), /×2\.5.*set by hand.*by admin api/s);
  await world.admin("DELETE", `/upstreams/${relay.id}/billing/multiplier`);
});

test("each charge leads to its request, and those without one are named", async () => {
  const relay = await someCharges(world);
  await open(`#/costs/${relay}`);
  const count = (which) => page.locator(`[data-charges=${which}]`);
  await count("matched").waitFor();
  const counts = async () => Promise.all(["matched", "differing", "theirs", "ours"].map((w) => count(w).innerText()));
  assert.deepEqual(await counts(), ["2", "1", "1", "1"]);
  await count("theirs").click();
  const rows = page.locator("[data-charge]");
  await until(page, () => document.querySelectorAll("[data-charge]").length === 1);
  assert.match(await rows.first().innerText(), /another-model[^]*none of ours/i);
  await count("differing").click();
  await until(page, () => /list price above ours/i.test(document.querySelector("[data-charge]")?.textContent ?? ""));
  await assertAccessible(page, "charges");
  await assertFits(page, "charges");
  await rows.first().locator("a").click();
  await page.waitForURL(/#\/requests\/[0-9a-f-]{36}/);
  await page.locator(".sheet", { hasText: "gpt-4o" }).waitFor();
});
