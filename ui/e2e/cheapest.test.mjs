// Cost decides: the strategy, the cap, what the last day's traffic would have cost, and why a member is dearer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible, assertFits, sees } from "./steps.mjs";
import { stage } from "./stage.mjs";

let world, page;
stage((made) => ({ world, page } = made));
const group = async () => (await world.admin("GET", "/groups")).items.find((g) => g.name === "coding");

test("a group's cap and strategy are compared with the last day's traffic, then saved", async () => {
  const { items } = await world.admin("GET", "/upstreams");
  for (const [name, multiplier] of [
    ["relay-a", "2"],
    ["relay-b", "0.5"],
    ["direct-a", "1"],
  ]) {
    const { id } = items.find((u) => u.name === name);
    await world.admin("PUT", `/upstreams/${id}/billing/multiplier`, { multiplier });
  }
  for (let n = 0; n < 6; n += 1) assert.equal(await world.ask({ model: "claude-sonnet-5" }), 200);
  await page.goto(`${world.ui}#/groups?sheet=rules`);
  const sheet = page.locator(".sheet");
  await sheet.getByLabel("Strategy").click();
  await page.getByRole("option", { name: "Cheapest" }).click();
  await sees(page, "prompt cache included");
  await sheet.getByLabel("Across all tiers").click();
  await sheet.getByLabel("Multiplier up to").fill("none");
  await sheet.getByRole("button", { name: "Save" }).click();
  await sees(page, "A number above 0, such as 1.5.");
  await sheet.getByLabel("Multiplier up to").fill("1.5");
  await sheet.getByRole("button", { name: "are left out" }).click();
  await sheet.getByRole("button", { name: "Compare with the last day’s traffic" }).click();
  await sees(page, "6 requests replayed");
  const row = sheet.locator("tr", { hasText: "relay-b" });
  assert.match(await row.textContent(), /relay-b\s+\d\s+6\s/, "all of it would have been relay-b's");
  await assertAccessible(page, "group rules");
  await assertFits(page, "group rules");
  await sheet.getByRole("button", { name: "Save" }).click();
  await sheet.waitFor({ state: "detached" });
  const saved = await group();
  assert.deepEqual(
    [saved.strategy, saved.across_tiers, saved.max_multiplier, saved.unknown_multiplier],
    ["cheapest", true, "1.5", "deny"],
  );
});

test("each candidate's forecast and what it was made from are explained, and a request keeps why", async () => {
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/groups?explain=claude-sonnet-5`);
  await sees(page, "Forecast");
  await sees(page, "no cache seen");
  await sees(page, "Its multiplier is above the cap.");
  await sees(page, "100 % more than the one chosen");
  await assertFits(page, "explain");
  await world.ask({ model: "claude-sonnet-5" });
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/requests`);
  await page.locator("tr[data-id]").first().click();
  await sees(page, "Dearer");
});
