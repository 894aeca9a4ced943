// Monitors made, asked, changed and removed, and the limits of keys, against a real gateway; in both languages.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { assertAccessible, sees, until } from "./steps.mjs";
import { someMonitors, startWorld } from "./world.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

async function inWorld(t, look = {}) {
  const world = await startWorld();
  t.after(() => world.stop());
  const opened = await openPage(browser, { ...look, token: world.token });
  t.after(() => opened.context.close());
  return { ...world, ...opened };
}

const WORDS = {
  en: {
    empty: "Nothing is monitored yet",
    add: "Add monitors",
    others: "Other models",
    every: "Every",
    short: "At least 5s",
    added: "2 monitors added",
    already: "monitored already",
    probe: "Probe now",
    failed: "503",
    down: "Down",
    saved: "is saved",
    remove: "Delete",
    deleted: "is deleted",
    undo: "Undo",
  },
  zh: {
    empty: "还没有监测",
    add: "添加监测",
    others: "其他模型",
    every: "间隔",
    short: "至少 5s",
    added: "已添加 2 项监测",
    already: "已在监测",
    probe: "立即探测",
    failed: "503",
    down: "中断",
    saved: "已保存",
    remove: "删除",
    deleted: "已删除",
    undo: "撤销",
  },
};

for (const language of ["en", "zh"]) {
  const words = WORDS[language];
  test(`monitors are made together, asked, changed and brought back, ${language}`, async (t) => {
    const { page, ui, admin, fakes } = await inWorld(t, { language, theme: language === "zh" ? "dark" : "light" });
    await page.goto(`${ui}#/monitor`);
    await sees(page, words.empty);
    await page.getByRole("button", { name: words.add }).first().click();
    await page.locator(".sheet .line .cb").nth(1).click();
    const listed = await page.locator(".sheet .line .mono").first().innerText();
    await page.getByLabel(words.others, { exact: true }).fill("m-typed");
    await page.keyboard.press("Enter");
    await page.getByLabel(words.every, { exact: true }).fill("1s");
    await page.locator(".sheet button[type=submit]").click();
    await sees(page, words.short);
    await page.getByLabel(words.every, { exact: true }).fill("1h");
    await page.locator(".sheet button[type=submit]").click();
    await sees(page, words.added);
    await until(page, () => document.querySelectorAll(".mon.healthy .last time").length === 2);
    await assertAccessible(page, "the monitors");

    await page.getByRole("button", { name: words.add }).first().click();
    await sees(page, words.already);
    await page.keyboard.press("Escape");

    const card = page.locator(".mon", { hasText: "m-typed" });
    for (const fake of fakes) await fake.script([{ then: { status: 503, body: "<b>busy</b>" } }]);
    await card.getByRole("button", { name: words.probe }).click();
    await card.locator(".failure").waitFor();
    assert.match(await card.innerText(), new RegExp(words.failed));
    assert.equal(await card.locator("b").count(), 0);
    for (const fake of fakes) await fake.script([]);
    await card.getByRole("button", { name: words.probe }).click();
    await card.locator(".failure").waitFor({ state: "detached" });

    await card.getByText("relay-a", { exact: true }).click();
    await page.locator(".sheet tbody tr").nth(2).waitFor();
    await page.getByLabel(words.every, { exact: true }).fill("30m");
    await assertAccessible(page, "a monitor");
    await page.locator(".sheet button[type=submit]").click();
    await sees(page, words.saved);
    const { items } = await admin("GET", "/monitors");
    const changed = items.find((m) => m.model === "m-typed");
    assert.deepEqual([changed.interval, changed.strip.total, changed.strip.ok], ["30m", 3, 2]);
    assert.ok(items.some((m) => m.model === listed));

    await card.getByText("relay-a", { exact: true }).click();
    await page.locator(".sheet").getByRole("button", { name: words.remove, exact: true }).click();
    await sees(page, words.deleted);
    await card.waitFor({ state: "detached" });
    await page
      .locator("[data-sonner-toast]", { hasText: words.deleted })
      .getByRole("button", { name: words.undo })
      .click();
    await card.waitFor();
    const restored = (await admin("GET", "/monitors")).items.find((m) => m.model === "m-typed");
    assert.deepEqual([restored.id, restored.strip.total], [changed.id, 3], "its history is still there");
  });
}

test("monitors are filtered by words and state, probed together, and read by keyboard", async (t) => {
  const { page, ui, admin, fakes } = await inWorld(t);
  await someMonitors({ admin });
  await page.goto(`${ui}#/monitor`);
  await until(page, () => document.querySelectorAll(".mon.healthy").length === 8);
  await fakes[1].script([{ then: { status: 503, body: "busy" } }]);
  assert.deepEqual(await page.locator(".sec h2").allInnerTexts(), ["cloud", "direct", "relay", "own"]);
  await page.keyboard.press("/");
  await page.keyboard.type("relay sonnet");
  await until(page, () => document.querySelectorAll(".mon").length === 2);
  await page.getByRole("button", { name: "Probe those shown" }).click();
  await sees(page, "1 answered, 1 failed");
  await page.mouse.move(0, 0);
  await until(page, () => document.querySelector(".mon")?.textContent?.includes("relay-b"));
  await page.getByRole("button", { name: /^Down/ }).click();
  await until(page, () => document.querySelectorAll(".mon").length === 1);
  assert.match(page.url(), /state=down/);
  await page.reload();
  await until(page, () => document.querySelectorAll(".mon").length === 1);
  const strip = page.locator(".mon [role=img]");
  assert.match(await strip.getAttribute("aria-label"), /^1 of 2 probes of the last 24 h answered, 50.0 %/);
  await strip.focus();
  await page.keyboard.press("End");
  await until(page, () => /^\d\d:\d\d–\d\d:\d\d: /.test(document.querySelector(".mon [role=img]")?.ariaLabel ?? ""));
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await page.getByText("lan-a", { exact: true }).click();
  await sees(page, "Its upstream is switched off");
});

test("an upstream that cools down says so on its monitors, with the time left", async (t) => {
  const { page, ui, ask, admin, fakes } = await inWorld(t);
  await someMonitors({ admin });
  for (const fake of fakes) await fake.script([{ then: { status: 503, body: "busy" } }]);
  for (let n = 0; n < 6; n += 1) await ask();
  await page.goto(`${ui}#/monitor?q=relay-a+haiku`);
  await until(page, () => /Cooling 0:\d\d/.test(document.querySelector(".mon")?.textContent ?? ""));
  await page.locator(".mon").click();
  await sees(page, "Out of rotation:");
  await sees(page, "Probes go on meanwhile");
});

test("the limits of a key are set, shown, kept to and taken away", async (t) => {
  const { page, ui, admin, ask } = await inWorld(t);
  await page.goto(`${ui}#/keys`);
  await page.getByText("laptop", { exact: true }).click();
  await page.getByLabel("Requests a minute").fill("0");
  await page.locator(".sheet button[type=submit]").click();
  await sees(page, "A whole number from 1 to");
  await page.getByLabel("Requests a minute").fill("2");
  await page.getByLabel("Tokens a minute").fill("4000000");
  await page.locator(".sheet button[type=submit]").click();
  await sees(page, "laptop is saved");
  const row = page.locator("tr[data-id]", { hasText: "laptop" });
  assert.match(await row.innerText(), /2 requests\/min[\s\S]*4\.0 M tokens\/min/);
  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429]);
  await page.getByText("laptop", { exact: true }).click();
  assert.equal(await page.getByLabel("Tokens a minute").inputValue(), "4000000");
  await page.getByLabel("Requests a minute").fill("");
  await page.locator(".sheet button[type=submit]").click();
  await page.locator(".sheet").waitFor({ state: "detached" });
  const { limits } = (await admin("GET", "/keys")).items.find((key) => key.name === "laptop");
  assert.deepEqual([limits.rpm ?? null, limits.tpm], [null, 4_000_000]);
});

test("what a group does when it is full, and repeats, are set where they belong", async (t) => {
  const { page, ui, admin } = await inWorld(t);
  await page.goto(`${ui}#/groups?sheet=rules`);
  await page.getByText("is waited for").click();
  await page.getByLabel("Waits up to").fill("5s");
  await page.getByLabel("Queue", { exact: true }).fill("32");
  await page.locator(".sheet button[type=submit]").click();
  await page.locator(".sheet").waitFor({ state: "detached" });
  const [group] = (await admin("GET", "/groups")).items;
  assert.deepEqual([group.on_saturation, group.wait, group.queue.size], ["wait", "5s", 32]);
  await page.goto(`${ui}#/settings`);
  await page.getByLabel("Repeats on the same upstream").fill("1");
  await page.keyboard.press("Enter");
  await sees(page, "Repeats on the same upstream is now 1");
  assert.equal((await admin("GET", "/settings")).values.retry_same, 1);
  await page.goto(`${ui}#/settings/database`);
  await sees(page, "Probes are kept");
});
