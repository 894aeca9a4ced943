// Alert targets made, tried, changed and removed, and what the log says of them, against a real gateway; in both languages.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { assertAccessible, assertFits, sees, until } from "./steps.mjs";
import { startWorld } from "./world.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const WORDS = {
  en: {
    empty: "Nobody is told yet",
    add: "Add a target",
    robot: "DingTalk",
    address: "Address",
    name: "Name",
    saved: "is saved",
    arrived: "The test arrived at duty",
    refused: "The test did not arrive at duty",
    test: "Send a test to duty",
    edit: "Edit duty",
    remove: "Delete duty",
    some: "Only this",
    off: "Group down",
    deleted: "is deleted",
    undo: "Undo",
    down: "is out after",
  },
  zh: {
    empty: "还没有通知目标",
    add: "添加目标",
    robot: "钉钉",
    address: "地址",
    name: "名称",
    saved: "已保存",
    arrived: "测试消息已送达 duty",
    refused: "测试消息未送达 duty",
    test: "向 duty 发送测试",
    edit: "编辑 duty",
    remove: "删除 duty",
    some: "仅限",
    off: "分组中断",
    deleted: "已删除",
    undo: "撤销",
    down: "已熔断",
  },
};

for (const language of ["en", "zh"]) {
  const words = WORDS[language];
  test(`a target is made by keyboard, tried, told, changed and brought back, ${language}`, async (t) => {
    const world = await startWorld();
    t.after(() => world.stop());
    const theme = language === "zh" ? "dark" : "light";
    const { page, context, complaints } = await openPage(browser, { language, theme, token: world.token });
    t.after(() => context.close());
    const { ui, admin, ask, fakes } = world;
    const robot = (code, errmsg) =>
      fakes[1].script([{ path: "/robot", then: { status: 200, body: JSON.stringify({ errcode: code, errmsg }) } }]);
    await robot(0, "ok");

    await page.goto(`${ui}#/settings/alerts`);
    await sees(page, words.empty);
    await page.getByRole("button", { name: words.add }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: words.robot }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel(words.address, { exact: true }).fill(`${fakes[1].url}/robot?access_token=canary-7d1e`);
    await page.getByLabel(words.name).last().fill("duty");
    await assertAccessible(page, "a new target");
    await page.keyboard.press("Enter");
    await sees(page, words.saved);

    await page.getByRole("button", { name: words.test }).click();
    await sees(page, words.arrived);
    await robot(310000, "keywords not in content");
    await page.getByRole("button", { name: words.test }).click();
    await sees(page, words.refused);
    await sees(page, "keywords not in content");
    await robot(0, "ok");

    await fakes[0].script([{ then: { status: 503, body: "busy" } }]);
    for (let n = 0; n < 40; n += 1) await ask();
    await sees(page, words.down);
    await assertAccessible(page, "alerts");
    await assertFits(page, "alerts");
    assert.ok(!(await page.content()).includes("canary-7d1e"), "its address is never shown");

    await page.getByRole("button", { name: words.edit }).click();
    await page.getByText(words.some, { exact: true }).click();
    const chips = page.locator(".sheet .fchip.on");
    while ((await chips.count()) > 1) await chips.last().click();
    assert.match(await chips.innerText(), new RegExp(words.off));
    await assertAccessible(page, "a target");
    await page.locator(".sheet button[type=submit]").click();
    await until(page, () => !document.querySelector(".sheet"));
    const [target] = (await admin("GET", "/alerts")).items;
    assert.deepEqual([target.name, target.template, target.events], ["duty", "dingtalk", ["group_down"]]);

    await page.getByRole("button", { name: words.remove }).click();
    await sees(page, words.deleted);
    await sees(page, words.empty);
    await page
      .locator("[data-sonner-toast]", { hasText: words.deleted })
      .getByRole("button", { name: words.undo })
      .click();
    await page.getByRole("button", { name: words.test }).click();
    await sees(page, words.arrived);
    assert.deepEqual(complaints, []);
  });
}
