// The main ways through the page without a pointer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./stage.mjs";
import { sees, until } from "./steps.mjs";

let world, page;
stage((opened) => ({ world, page } = opened));

/** A page that begins anew, with nothing focused. */
async function open(at) {
  await page.goto("about:blank");
  await page.goto(world.ui + at);
}

const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

/** Tabs until the focus is on something with this text. */
async function tabTo(text, most = 80) {
  for (let n = 0; n < most; n += 1) {
    await page.keyboard.press("Tab");
    if ((await focused()).includes(text)) return;
  }
  assert.fail(`the focus never came to “${text}”`);
}

test("the palette finds pages, upstreams and commands", async () => {
  await open("#/overview");
  await sees(page, "Needs attention");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("open relay-b");
  await page.keyboard.press("Enter");
  await page.locator(".sheet h2", { hasText: "relay-b" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".sheet").waitFor({ state: "detached" });
  await page.keyboard.press("Alt+7");
  await sees(page, "One per tool or person");
});

test("a filter is reached by / and a row by its arrows", async () => {
  await open("#/upstreams");
  await page.locator("tr[data-id]").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("relay");
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 2);
  await tabTo("relay-a");
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(), /relay-b/);
  await page.keyboard.press("Enter");
  await page.locator(".sheet h2", { hasText: "relay-b" }).waitFor();
  await page.keyboard.press("Escape");
});

test("an upstream is added", async () => {
  await open("#/upstreams");
  await page.locator("tr[data-id]").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("add upstream");
  await page.keyboard.press("Enter");
  await page.locator("#paste").waitFor();
  await tabTo("");
  await page.locator("#paste").focus();
  await page.keyboard.insertText(`by-hand | ${world.fakes[1].url} | sk-fake-0123456789`);
  await sees(page, "Reachable");
  await page.getByLabel("Name", { exact: true }).focus();
  await page.keyboard.press("Enter");
  await sees(page, "by-hand is saved");
});

test("a member is moved between tiers", async () => {
  await open("#/groups");
  await page.locator("button[draggable]").first().waitFor();
  await tabTo("relay-b");
  await page.keyboard.press("Alt+ArrowDown");
  await sees(page, "relay-b now has priority 20");
  await until(page, () => {
    const tiers = [...document.querySelectorAll(".tier")];
    return tiers[1]?.textContent?.includes("relay-b");
  });
});

test("a key is made", async () => {
  await open("#/keys");
  await page.locator("tr[data-id]").first().waitFor();
  await tabTo("Create key");
  await page.keyboard.press("Enter");
  await page.getByLabel("Name", { exact: true }).focus();
  await page.keyboard.type("by-keyboard");
  await page.keyboard.press("Enter");
  await sees(page, "Key “by-keyboard” is ready");
  await page.keyboard.press("Escape");
  await page.locator(".dialog").waitFor({ state: "detached" });
});
