// Much of everything: what a year of use looks like must feel like the first day. With --full only: it takes a while,
// and a machine that is busy with other things makes frames late.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { history } from "./history.mjs";
import { sees, until } from "./steps.mjs";
import { startWorld } from "./world.mjs";

const options = { skip: process.env.HEADGATE_UI_FULL ? false : "in --full" };
const REQUESTS = 100_000;
const MODELS = 10_000;
/** The longest the page may be deaf while a person scrolls. */
const LONGEST_TASK_MS = 50;
/** The longest until a list shows what was asked for. */
const LONGEST_WAIT_MS = 1500;

let world, browser, page, context;
before(async () => {
  if (options.skip) return;
  world = await startWorld();
  await history(world, { count: REQUESTS, hours: 144 });
  browser = await launch();
  ({ page, context } = await openPage(browser, { token: world.token }));
});
after(async () => {
  await context?.close();
  await browser?.close();
  await world?.stop();
});

/** Tasks over 50 ms from now on; the answer tells the longest. */
async function watchTasks() {
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.watching?.disconnect();
    globalThis.watching = new PerformanceObserver((list) => {
      for (const task of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, task.duration);
    });
    globalThis.watching.observe({ type: "longtask" });
  });
  return () => page.evaluate(() => globalThis.longest);
}

/** Turns the wheel over an element, a frame at a time. */
async function scroll(locator, turns, distance) {
  await locator.hover();
  for (let n = 0; n < turns; n += 1) {
    await page.mouse.wheel(0, distance);
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))));
  }
}

/** Scrolls to and fro; what stutters does so every time, what another program's turn delayed does not. */
async function assertSmooth(t, what, locator, turns, distance) {
  const rounds = [];
  for (const direction of [1, -1, 1, -1]) {
    const longest = await watchTasks();
    await scroll(locator, turns, direction * distance);
    rounds.push(Math.round(await longest()));
  }
  t.diagnostic(`longest tasks while scrolling ${what}: ${rounds.join(", ")} ms`);
  assert.ok(Math.min(...rounds) < LONGEST_TASK_MS, `scrolling ${what}: tasks of ${rounds.join(", ")} ms`);
}

async function within(t, what, work) {
  const begun = performance.now();
  await work();
  const ms = Math.round(performance.now() - begun);
  t.diagnostic(`${what}: ${ms} ms`);
  assert.ok(ms < LONGEST_WAIT_MS, `${what} took ${ms} ms`);
}

test("a hundred thousand requests are paged and filtered without waiting", options, async (t) => {
  await page.goto(`${world.ui}#/requests?window=7d`);
  await page.locator("tr[data-id]").first().waitFor();
  await sees(page, /of 10,000\+|of 100,000|of more than/);
  const first = () => page.locator("tr[data-id]").first().getAttribute("data-id");
  const changed = async (work) => {
    const before = await first();
    await work();
    await until(page, (id) => document.querySelector("tr[data-id]")?.dataset.id !== id, before);
  };
  const upstream = (await world.admin("GET", "/upstreams")).items.find((u) => u.name === "relay-b").id;
  const longest = await watchTasks();
  await within(t, "the next page", () => changed(() => page.getByRole("button", { name: "2", exact: true }).click()));
  await within(t, "another page", () => changed(() => page.getByRole("button", { name: "3", exact: true }).click()));
  await within(t, "only what failed", () =>
    changed(() => page.evaluate(() => (location.hash = "#/requests?window=7d&status=fail"))),
  );
  await within(t, "one upstream", () =>
    changed(() => page.evaluate((id) => (location.hash = `#/requests?window=7d&upstream=${id}`), upstream)),
  );
  await page.evaluate(() => (location.hash = "#/requests?window=7d"));
  await page.getByRole("button", { name: "100", exact: true }).click();
  await until(page, () => document.querySelectorAll("tr[data-id]").length > 20);
  t.diagnostic(`longest task while paging and filtering: ${Math.round(await longest())} ms`);
  await assertSmooth(t, "100 rows", page.locator("table"), 40, 120);
});

test("the overview of a hundred thousand requests appears at once", options, async (t) => {
  await within(t, "the overview", async () => {
    await page.evaluate(() => (location.hash = "#/overview"));
    await page.locator(".spark").first().waitFor();
  });
});

test("ten thousand models scroll without stutter and are found by name", options, async (t) => {
  const models = Array.from({ length: MODELS }, (_, n) => `vendor-${n % 40}/model-${n}`);
  await page.route("**/admin/v1/upstreams/*/models", (route) => route.fulfill({ json: { models } }));
  await page.evaluate(() => (location.hash = "#/upstreams"));
  await page.locator("tr[data-id]", { hasText: "relay-a" }).click();
  await sees(page, "10,000 found");
  const list = page.getByRole("list", { name: "Models" });
  await list.scrollIntoViewIfNeeded();
  await assertSmooth(t, `${MODELS} models`, list, 60, 400);
  await within(t, "one model of many", async () => {
    await page.getByPlaceholder("Filter models").fill("model-9999");
    await list.getByText("model-9999", { exact: false }).waitFor();
  });
});
