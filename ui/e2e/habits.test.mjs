// What people try without being told that it exists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./stage.mjs";
import { sees, undo, until } from "./steps.mjs";

let world, page, context;
stage((opened) => ({ world, page, context } = opened));

async function open(place) {
  await page.goto("about:blank");
  await page.goto(`${world.ui}${place}`);
}

test("a member is dragged from tier to tier, and back by undo", async () => {
  await open("#/groups");
  const chip = page.locator("button[draggable]", { hasText: "relay-b" });
  await chip.dragTo(page.locator(".tier").nth(1));
  await sees(page, "relay-b now has priority 20");
  await until(page, () => document.querySelectorAll(".tier")[1]?.textContent?.includes("relay-b"));
  await undo(page);
  await until(page, () => document.querySelectorAll(".tier")[0]?.textContent?.includes("relay-b"));
  // Below the last one it gets a tier of its own.
  await chip.dragTo(page.locator(".tier.last"));
  await until(page, () => document.querySelectorAll(".tier:not(.last)").length === 4);
  await undo(page);
  await until(page, () => document.querySelectorAll(".tier:not(.last)").length === 3);
});

test("a key or group that was deleted comes back alone; what was changed since stays", async () => {
  await open("#/keys");
  await page.getByLabel(/^More.*: team-web$/).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await sees(page, "team-web is deleted");
  await world.admin("POST", "/keys", { name: "meanwhile", group: "chat" });
  await undo(page);
  await page.locator("tr[data-id]", { hasText: "team-web" }).waitFor();
  const names = (await world.admin("GET", "/keys")).items.map((key) => key.name);
  assert.deepEqual(names.sort(), ["laptop", "meanwhile", "old-desktop", "team-web"]);
  await world.admin("POST", "/groups", { name: "spare", members: [] });
  await open("#/groups");
  await page
    .getByRole("link", { name: "spare" })
    .or(page.getByRole("tab", { name: "spare" }))
    .first()
    .click();
  await page.getByLabel(/^More/).last().click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await sees(page, "spare is deleted");
  await undo(page);
  await page.locator(".tabs", { hasText: "spare" }).waitFor();
});

test("an upstream is duplicated, and all are tested at once", async () => {
  await open("#/upstreams");
  await page.locator("tr[data-id]", { hasText: "relay-b" }).click();
  await page.locator(".sheet").getByLabel("More actions").click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await until(
    page,
    () => document.querySelector('.sheet input[id*="name"], .sheet .form input')?.value === "relay-b-2",
  );
  await page.keyboard.press("Escape");
  await open("#/upstreams");
  await page.getByRole("button", { name: "Test all" }).click();
  await until(page, () => document.querySelectorAll(".sheet .st.healthy").length >= 4);
  await until(page, () => document.querySelectorAll(".sheet .st.down").length === 1);
});

test("several upstreams are pasted as lines of name, address and key", async () => {
  await open("#/upstreams/new");
  const [a, b] = world.fakes;
  await page.fill("#paste", `first | ${a.url} | sk-first-0123456789\nsecond | ${b.url} | sk-second-0123456789`);
  await page.getByRole("button", { name: /Add 2|Add both|Add all/ }).click();
  for (const name of ["first", "second"])
    await page
      .locator("tr[data-id]")
      .filter({ has: page.getByText(name, { exact: true }) })
      .waitFor();
  const { items } = await world.admin("GET", "/upstreams");
  assert.ok(["first", "second"].every((name) => items.some((u) => u.name === name)));
});

test("the log is read and searched, and diagnostics are copied without a secret", async () => {
  await world.ask();
  await open("#/settings/logs");
  await page.getByPlaceholder("Find in the log").fill("configuration published");
  await until(page, () => {
    const lines = [...document.querySelectorAll(".log li")];
    return lines.length > 0 && lines.every((line) => line.textContent?.includes("configuration published"));
  });
  await open("#/settings/about");
  await page.getByRole("button", { name: "Copy diagnostics" }).click();
  await sees(page, "Copied");
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /version|Headgate/i);
  for (const secret of [world.token, "sk-fake", "hg-laptop-0123456789"]) assert.ok(!text.includes(secret), secret);
});

test("what one window changes, another shows", async () => {
  const second = await context.newPage();
  await second.goto(`${world.ui}#/keys`);
  await second.locator("tr[data-id]", { hasText: "laptop" }).waitFor();
  await open("#/keys");
  await page.getByLabel(/^More.*: laptop$/).click();
  await page.getByRole("menuitem", { name: "Switch off" }).click();
  await second.locator("tr.off", { hasText: "laptop" }).waitFor();
  assert.equal(await world.ask(), 401);
});
