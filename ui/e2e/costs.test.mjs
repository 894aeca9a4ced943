// What requests cost, as a person sees it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sees, until } from "./steps.mjs";
import { stage } from "./stage.mjs";

let world, page;
stage((made) => ({ world, page } = made));

test("a request shows what it cost and by which price", async () => {
  await world.ask({ model: "claude-sonnet-5-high", stream: false });
  await page.goto(`${world.ui}#/requests?model=claude-sonnet-5-high`);
  // Eight new tokens, three from the cache, seven of output: 8 × 2 + 3 × 0.2 + 7 × 10 millionths of a dollar.
  await until(page, () => /\$0\.000087/.test(document.querySelector("tr[data-id]")?.textContent ?? ""));
  const exact = await page.locator("tr[data-id] [title$=' USD']").first().getAttribute("title");
  assert.equal(exact, "0.0000866 USD");
  await page.locator("tr[data-id]").first().click();
  await sees(page, "found as claude-sonnet-5");
  const list = (await world.admin("GET", "/prices")).version.id;
  await sees(page, `list ${list}`);
});

test("a model without a price has no cost, and an own price gives later requests one", async () => {
  await world.ask({ model: "nothing-such", stream: false });
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/requests?model=nothing-such`);
  await page.locator("tr[data-id]").first().click();
  await sees(page, "no price for this model");
  const rates = ["input", "cache_read", "output"].map((part) => ({ part, price: "1000" }));
  await world.admin("POST", "/prices/overrides", { model: "nothing-*", currency: "CNY", rates });
  await world.ask({ model: "nothing-such", stream: false });
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/requests?model=nothing-such`);
  await until(page, () => /¥0\.0180/.test(document.querySelector("tr[data-id]")?.textContent ?? ""));
});

test("the overview adds up today by currency and says how much of it is priced", async () => {
  await page.goto(`${world.ui}#/overview`);
  await until(page, () => /¥0\.0180/.test(document.querySelector(".tiles")?.textContent ?? ""));
  await sees(page, "66.6 % priced in full");
});
