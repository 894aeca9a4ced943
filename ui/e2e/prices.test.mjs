// The price list in the settings: looking a model up, and setting a price of one's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible, assertFits, sees, undo, until } from "./steps.mjs";
import { stage } from "./stage.mjs";

let world, page;
stage((made) => ({ world, page } = made));
const overrides = async () => (await world.admin("GET", "/prices")).overrides;

test("a model is found under the name the list knows it by", async () => {
  await page.goto(`${world.ui}#/settings/prices`);
  await sees(page, "came with the program");
  await page.getByRole("searchbox", { name: "Find a model" }).fill("claude-sonnet-5-high");
  await sees(page, "A request for claude-sonnet-5-high is priced as claude-sonnet-5");
  await sees(page, "$10.00");
  await page.getByRole("searchbox", { name: "Find a model" }).fill("nothing-such");
  await sees(page, "A request for nothing-such has no price");
  await assertAccessible(page, "prices");
  await assertFits(page, "prices");
});

test("an own price is set, wins over the list, and its removal is taken back", async () => {
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/settings/prices`);
  await page.getByRole("searchbox", { name: "Find a model" }).fill("nothing-such");
  await page.getByRole("button", { name: "Set a price" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("Input").fill("-3");
  await sheet.getByRole("button", { name: "Save" }).click();
  await sees(page, "Write a number such as 3 or 0.25.");
  await sheet.getByLabel("Input").fill("3");
  await sheet.getByLabel("Output").fill("15");
  await sheet.getByRole("button", { name: "Save" }).click();
  await sees(page, "A request for nothing-such is priced by your own price for nothing-such");
  assert.deepEqual((await overrides())[0].rates, [
    { part: "input", price: "3" },
    { part: "output", price: "15" },
  ]);
  const shown = page.getByRole("region", { name: "Own prices" }).locator("tbody tr");
  assert.match(await shown.textContent(), /nothing-such.*since.*\$3\.00––––?\$15\.00/s);
  assert.doesNotMatch(await shown.textContent(), /≈/, "a price that somebody set is no estimate");
  await page.getByRole("button", { name: "Remove the price of nothing-such" }).click();
  await sees(page, "A request for nothing-such has no price");
  await undo(page);
  await until(page, () => document.body.textContent.includes("your own price for nothing-such"));
  assert.equal((await overrides()).length, 1);
});
