// The Costs page: figures that lead to their requests, the two checks, a multiplier by hand; in both languages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { history } from "./history.mjs";
import { assertAccessible, sees, until } from "./steps.mjs";
import { stage } from "./stage.mjs";
import { someBilling } from "./world.mjs";

let world, page;
stage((made) => ({ world, page } = made));

async function open(at) {
  await page.goto("about:blank");
  await page.goto(`${world.ui}${at}`);
}
const amounts = (selector) =>
  page.$$eval(selector, (found) => found.map((one) => one.getAttribute("title")?.replace(" USD", "") ?? ""));

test("an empty page says what it is for and what to do", async () => {
  await open("#/costs");
  await sees(page, "No requests in this time");
  await sees(page, "No upstream is asked for its billing");
});

test("every way to divide a day's spend adds up to the same, and a row leads to exactly its requests", async () => {
  await history(world, { count: 900 });
  const sums = [];
  for (const by of ["model", "key", "group", "upstream"]) {
    const costs = await world.admin("GET", `/costs?by=${by}`);
    const [total] = costs.totals;
    const micro = (text) => Math.round(Number(text) * 1e9);
    const rows = costs.rows.flatMap((row) => row.costs).reduce((sum, part) => sum + micro(part.amount), 0);
    assert.equal(rows, micro(total.amount), by);
    sums.push(total.amount);
  }
  assert.equal(new Set(sums).size, 1, sums.join(" "));
  await open("#/costs?by=upstream");
  await page.locator(".chart canvas").waitFor();
  const [first] = await amounts("a.sp .n[title]");
  await page.locator("a.sp").first().click();
  await page.locator(".fchip.on").first().waitFor();
  await until(
    page,
    (sum) => [...document.querySelectorAll(".stats dd [title]")].some((one) => one.title.includes(sum)),
    first,
  );
  // The way back is the page as it was.
  await page.goBack();
  await page.locator("a.sp").first().waitFor();
  assert.match(page.url(), /by=upstream/);
});

test("the same traffic elsewhere rests on what was spent, and leads to the requests it is made of", async () => {
  const { groups } = await world.admin("GET", "/costs/elsewhere");
  const spent = await world.admin("GET", "/costs?by=group");
  for (const { name, was, currency } of groups) {
    const row = spent.rows.find((one) => one.name === name);
    const { amount } = row.costs.find((part) => part.currency === currency);
    assert.equal(Math.round(Number(was.list) * 1e9), Math.round(Number(amount) * 1e9), name);
  }
  await open("#/costs");
  const panel = page.locator(".panel", { hasText: "The same traffic elsewhere" });
  await panel.getByText("As it was").click();
  await panel.getByRole("link", { name: "Its requests" }).click();
  await page.locator(".fchip.on").first().waitFor();
  assert.match(page.url(), /group=/);
});

test("who charges more than stated stands first, with the readings it follows from", async () => {
  const [relay] = await someBilling(world);
  await open("#/costs");
  await until(page, () => /relay-a/.test(document.querySelector("tr[data-id]")?.textContent ?? ""));
  await sees(page, "Charged more than stated");
  await page.locator("tr[data-id]").first().click();
  await page.locator(".sheet table tbody tr").first().waitFor();
  assert.equal(await page.locator(".sheet table tbody tr").count(), 2);
  assert.match(page.url(), new RegExp(`/costs/${relay}`));
  await assertAccessible(page, "an upstream's charges");
});

test("a multiplier by hand goes before what is stated, and can be taken back", async () => {
  await page.locator(".sheet input[inputmode=decimal]").fill("2.5");
  await page.keyboard.press("Enter");
  await sees(page, "relay-a counts as ×2.5 until this is removed");
  await until(page, () => /×2\.5\s*set by hand/.test(document.querySelector("tr[data-id].sel")?.textContent ?? ""));
  await page.locator(".sheet").getByRole("button", { name: "Remove" }).click();
  await sees(page, "relay-a counts as it states itself again");
  await page.keyboard.press("Escape");
  await page.locator(".sheet").waitFor({ state: "detached" });
});

test("a week and a month are read, and the window stands in the address", async () => {
  await page.locator(".page-head .seg button", { hasText: "7 d" }).click();
  await until(page, () => location.hash.includes("window=7d"));
  await page.locator(".page-head .seg button", { hasText: "30 d" }).click();
  await until(page, () => location.hash.includes("window=30d"));
  await sees(page, "Spend, last 30 d");
});
