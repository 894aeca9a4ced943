// What upstreams charge: shown, asked for, set by hand and narrowed to, against a real gateway; in both languages and themes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { assertAccessible, assertFits, sees } from "./steps.mjs";
import { startWorld } from "./world.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const WORDS = {
  en: {
    low: "relay-a: balance low",
    over: "relay-a is over a cap",
    left: "×2 over the group's ×1.5",
    collect: "Collect now",
    asked: "has answered",
    byHand: "Set multiplier by hand",
    set: "Set",
    takeBack: "Take back",
    filter: "Billing",
    overCap: "Over a cap",
    openBilling: "Open billing",
  },
  zh: {
    low: "relay-a：余额不足",
    over: "relay-a 超过上限",
    left: "×2 超过该分组的 ×1.5",
    collect: "立即读取",
    asked: "已答复",
    byHand: "手动设置倍率",
    set: "设置",
    takeBack: "撤回",
    filter: "计费",
    overCap: "超过上限",
    openBilling: "打开计费",
  },
};

/** Asks until it is so. */
async function until(isSo) {
  for (let n = 0; n < 100; n += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`never: ${isSo}`);
}

/** sub2api's two answers. */
function relay(balance, multiplier, list, charged) {
  const usage = {
    mode: "unrestricted",
    isValid: true,
    balance,
    remaining: balance,
    unit: "USD",
    usage: { total: { requests: 3, cost: list, actual_cost: charged } },
  };
  const billing = {
    object: "sub2api.key_billing",
    schema_version: 1,
    resolved_rate_multiplier: multiplier,
    peak_rate_enabled: false,
    effective_rate_multiplier: multiplier,
  };
  const at = (path, body) => ({ path, then: { status: 200, body: JSON.stringify(body) } });
  return [at("/v1/usage", usage), at("/v1/sub2api/billing", billing), {}];
}

const configuration = ([a, b]) => `version: 1
upstreams:
  - { name: relay-a, base_url: "${a.url}", protocol: claude, credentials: [ { value: sk-fake-a } ], tags: { main: relay }, billing: { kind: sub2api, low_balance: 3 } }
  - { name: relay-b, base_url: "${b.url}", protocol: claude, credentials: [ { value: sk-fake-b } ], tags: { main: relay }, billing: { kind: sub2api } }
  - { name: direct-a, base_url: "${a.url}/v1", credentials: [ { value: sk-fake-c } ] }
groups: [ { name: coding, max_multiplier: 1.5, members: [ { upstream: relay-a }, { upstream: relay-b }, { upstream: direct-a } ] } ]
keys: [ { name: laptop, group: coding, secret: "hg-laptop-0123456789abcdefghij" } ]
`;

for (const language of ["en", "zh"]) {
  const words = WORDS[language];
  test(`a low balance and a raised multiplier are shown with what can be done, ${language}`, async (t) => {
    const world = await startWorld({ configuration });
    t.after(() => world.stop());
    const theme = language === "zh" ? "dark" : "light";
    const { page, context, complaints } = await openPage(browser, { language, theme, token: world.token });
    t.after(() => context.close());
    const { ui, admin, fakes } = world;
    const upstreams = async () => (await admin("GET", "/upstreams")).items;
    const named = async (name) => (await upstreams()).find((u) => u.name === name);
    const refresh = async (name) => admin("POST", `/upstreams/${(await named(name)).id}/billing/refresh`);
    await fakes[0].script(relay(12, 1, 10, 1));
    await fakes[1].script(relay(41.2, 0.15, 10, 1.5));
    for (const name of ["relay-a", "relay-b"]) await refresh(name);
    await fakes[0].script(relay(2.4, 2, 12, 3));
    await fakes[1].script(relay(40.85, 0.15, 12.02, 1.85));
    for (const name of ["relay-a", "relay-b"]) await refresh(name);

    await page.goto(`${ui}#/overview`);
    await sees(page, words.low);
    await sees(page, words.over);
    await page.locator("[data-withheld]", { hasText: words.left }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: words.collect }).first().click();
    await page.getByRole("link", { name: words.openBilling }).first().click();
    await page.locator(".sheet").waitFor();
    await assertAccessible(page);
    await assertFits(page);
    const sheet = page.locator(".sheet");
    await sheet.getByRole("button", { name: words.collect }).click();
    await sees(page, words.asked);
    await sheet.getByRole("button", { name: words.byHand }).click();
    await sheet.locator("form input").first().fill("0.8");
    await sheet.getByRole("button", { name: words.set, exact: true }).click();
    await until(async () => (await named("relay-a")).account.multiplier === "0.8");
    await sheet.getByRole("button", { name: words.takeBack }).click();
    await until(async () => (await named("relay-a")).account.multiplier === "2");

    await page.goto(`${ui}#/upstreams?billing=over_cap`);
    await until(async () => (await page.locator("tr[data-id]").count()) === 1);
    await page.goto(`${ui}#/upstreams`);
    await page.locator("tr[data-id]").nth(2).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.locator("tr[data-id] .cb").nth(1).click();
    await page.locator(".batch").getByRole("button", { name: words.collect }).click();
    assert.deepEqual(complaints, []);
  });
}
