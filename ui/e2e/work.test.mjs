// The main tasks, from login to a first answer and beyond, against a real gateway.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { sees, undo, until } from "./steps.mjs";
import { KEY, startWorld } from "./world.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A world and a page in it, for one test. */
async function inWorld(t, { logged = true, ...options } = {}) {
  const world = await startWorld(options);
  t.after(() => world.stop());
  const opened = await openPage(browser, {
    token: logged ? world.token : undefined,
    welcomed: options.configuration !== null,
  });
  t.after(() => opened.context.close());
  return { ...world, ...opened };
}

test("from an empty gateway to a first answer", async (t) => {
  const { page, ui, token, fakes } = await inWorld(t, { configuration: null, logged: false });
  await page.goto(ui);
  await page.fill("#token", "not-the-token");
  await page.keyboard.press("Enter");
  await sees(page, "This is not the admin token of this gateway");
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#fr-address");
  await page.fill("#fr-address", ` "${fakes[0].url}" `);
  await page.fill("#fr-key", " 'sk-fake 0123456789' ");
  await sees(page, "Reachable");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#fr-group");
  await page.click("text=Make both");
  const secret = await page.locator(".secret").innerText();
  assert.match(secret, /hg-[\w-]{20,}/);
  await page.click("text=Continue");
  await sees(page, "ANTHROPIC_AUTH_TOKEN=hg-");
  await page.click("text=Send a test request");
  await sees(page, "It works");
  await sees(page, "Direct");
  await page.click("text=Open Headgate");
  await sees(page, "The upstream in use is answering");
});

test("an upstream that fails changes its lane at once, and what it says is shown as text", async (t) => {
  const { page, ui, ask, fakes } = await inWorld(t);
  await page.goto(`${ui}#/overview`);
  await sees(page, "All 4 upstreams in use are answering");
  const html = "<html><img src=x onerror='document.title=1'><b>broken</b></html>";
  for (const fake of fakes) await fake.script([{ then: { status: 503, body: html, content_type: "text/html" } }]);
  for (let n = 0; n < 6; n += 1) await ask();
  await until(page, () => /Degraded|Down/.test(document.querySelector(".top .st")?.textContent ?? ""));
  await until(page, () => /Cooling/.test(document.querySelector(".lane")?.textContent ?? ""));
  await page.goto(`${ui}#/requests`);
  await page.locator("tr[data-id]").first().click();
  await sees(page, "Attempts");
  assert.equal(await page.locator(".sheet img").count(), 0);
  assert.equal(await page.title(), "Headgate");
});

test("upstreams: pasted, found out, changed, tagged together, deleted and brought back", async (t) => {
  const { page, ui, admin, fakes } = await inWorld(t);
  await page.goto(`${ui}#/upstreams`);
  await page.click("text=Add upstream");
  await page.fill("#paste", `RELAY_C_BASE_URL=${fakes[1].url}\nRELAY_C_API_KEY="sk-new 0123456789"`);
  await sees(page, "Reachable");
  await page.getByLabel("Name", { exact: true }).fill("relay-c");
  await page.locator(".sheet button[type=submit]").click();
  await sees(page, "relay-c is saved");
  await sees(page, "••••••••6789");

  await page.getByLabel("Region").fill("eu");
  await page.locator(".sheet button[type=submit]").click();
  await page.locator(".sheet").waitFor({ state: "detached" });
  const { items } = await admin("GET", "/upstreams");
  assert.equal(items.find((u) => u.name === "relay-c").region, "eu");

  await page.getByLabel("Select relay-b").click();
  await page.getByLabel("Select relay-c").click();
  await page.getByRole("button", { name: "Add label" }).click();
  await page.getByPlaceholder("New tag").fill("trial");
  await page.keyboard.press("Enter");
  await sees(page, "2 upstreams changed");
  await page.getByRole("button", { name: "Labels", exact: true }).click();
  await page.getByRole("menuitemcheckbox", { name: "trial" }).click();
  await page.keyboard.press("Escape");
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 2);
  assert.match(page.url(), /label=trial/);
  await undo(page);
  await sees(page, "Nothing matches");

  await page.goto(`${ui}#/upstreams`);
  await page.getByText("lan-a").click();
  await page.getByLabel("More actions").click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await sees(page, "lan-a is deleted");
  await undo(page);
  await page.locator("tr[data-id]", { hasText: "lan-a" }).waitFor();
});

test("a change that meets another is shown with it", async (t) => {
  const { page, ui, admin } = await inWorld(t);
  await page.goto(`${ui}#/upstreams`);
  await page.getByText("relay-a").click();
  await page.getByLabel("Region").fill("cn");
  const { items } = await admin("GET", "/upstreams");
  const { id, revision } = items.find((u) => u.name === "relay-a");
  await admin("PATCH", `/upstreams/${id}`, { revision, proxy: "direct" });
  await page.locator(".sheet button[type=submit]").click();
  await sees(page, "Changed by somebody else meanwhile");
  await sees(page, "proxy: direct");
  await page.getByRole("button", { name: "Keep mine" }).click();
  await sees(page, "relay-a is saved");
  const after = (await admin("GET", "/upstreams")).items.find((u) => u.id === id);
  assert.deepEqual([after.region, after.proxy], ["cn", "direct"]);
});

test("a key is made, shown once, used, and refused when switched off", async (t) => {
  const { page, ui, ask } = await inWorld(t);
  await page.goto(`${ui}#/keys/new`);
  await page.getByLabel("Name", { exact: true }).fill("ci-linux");
  await page.locator(".sheet button[type=submit]").click();
  await sees(page, "Key “ci-linux” is ready");
  const secret = (await page.locator(".dialog .secret").innerText()).match(/hg-[\w-]+/)[0];
  await sees(page, "waiting for its first request");
  assert.equal(await ask({ key: secret }), 200);
  await sees(page, "its first request has arrived");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByLabel("More: ci-linux").click();
  await page.getByRole("menuitem", { name: "Switch off" }).click();
  await sees(page, "ci-linux is switched off");
  assert.equal(await ask({ key: secret }), 401);
  assert.ok(!(await page.content()).includes(secret), "the secret is gone from the page");
});

test("requests appear live, can be filtered by address and followed one by one", async (t) => {
  const { page, ui, ask } = await inWorld(t);
  await page.goto(`${ui}#/requests`);
  await sees(page, "No requests yet");
  await ask({ model: "claude-sonnet-5" });
  await page.locator("tr[data-id]").first().waitFor();
  await ask({ model: "claude-opus-5" });
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 2);
  await page.getByRole("button", { name: "Pause list" }).click();
  await ask({ model: "claude-opus-5" });
  await sees(page, "1 new request");
  assert.equal(await page.locator("tr[data-id]").count(), 2);
  await page.getByRole("button", { name: "Show them" }).click();
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 3);
  await page.getByRole("button", { name: "Model", exact: true }).click();
  await page.getByRole("menuitemcheckbox", { name: "claude-sonnet-5" }).click();
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 1);
  assert.match(page.url(), /model=claude-sonnet-5/);
  await page.reload();
  await until(page, () => document.querySelectorAll("tr[data-id]").length === 1);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "As CSV" }).click();
  assert.equal((await download).suggestedFilename(), "headgate-requests.csv");
});

test("a group is tested with a streamed prompt, its change is seen in history and taken back", async (t) => {
  const { page, ui, admin } = await inWorld(t);
  await page.goto(`${ui}#/groups?sheet=test`);
  await page.fill("#test-model", "claude-haiku-5-5");
  await page.click("text=Send");
  await sees(page, "Complete answer");
  await page.click("text=Open the request");
  await sees(page, "Attempts");
  await page.goto(`${ui}#/groups`);
  await page.getByLabel("Weight", { exact: true }).fill("5");
  await page.keyboard.press("Enter");
  await sees(page, "relay-a now has weight 5");
  await page.getByRole("button", { name: "History" }).click();
  await page.locator(".sheet li button").first().click();
  await sees(page, "members[0].weight");
  await page.locator(".sheet li button").nth(1).click();
  await page.getByRole("button", { name: "Go back to it" }).click();
  await sees(page, "Back at revision");
  const [group] = (await admin("GET", "/groups")).items;
  assert.equal(group.members[0].weight, 3);
});

test("settings are saved in place and taken back; a file is looked at before it is applied", async (t) => {
  const { page, ui, admin } = await inWorld(t);
  await page.goto(`${ui}#/settings`);
  await page.getByLabel("Attempts per request").fill("99");
  await page.keyboard.press("Enter");
  await sees(page, "A whole number from 1 to 20");
  await page.getByLabel("Attempts per request").fill("5");
  await page.keyboard.press("Enter");
  await sees(page, "Attempts per request is now 5");
  assert.equal((await admin("GET", "/settings")).values.max_attempts, 5);
  await undo(page);
  await sees(page, "3, default");

  await page.goto(`${ui}#/settings/file`);
  await page.getByLabel("Configuration (YAML or JSON)").click();
  await page.keyboard.insertText("version: 1\ngroups:\n  - { name: extra, members: [ { upstream: relay-a } ] }\n");
  await page.getByRole("button", { name: "Show changes" }).click();
  await sees(page, "groups · extra");
  assert.equal((await admin("GET", "/groups")).items.length, 2);
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await sees(page, "Applied as revision");
  assert.equal((await admin("GET", "/groups")).items.length, 3);
});

test("language and theme change without a reload, and stay", async (t) => {
  const { page, ui } = await inWorld(t);
  await page.goto(`${ui}#/settings/appearance`);
  await page.getByText("Dark", { exact: true }).click();
  await page.getByText("简体中文").click();
  await sees(page, "外观");
  await page.reload();
  await sees(page, "外观");
  assert.deepEqual(await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.lang]), [
    "dark",
    "zh-CN",
  ]);
});

test("pausing refuses requests with an answer that says so, until it is resumed", async (t) => {
  const { page, ui, ask } = await inWorld(t);
  await page.goto(`${ui}#/overview`);
  await page.getByRole("button", { name: "Pause" }).click();
  await sees(page, "You paused the gateway");
  assert.equal(await ask(), 503);
  await page.locator("main").getByRole("button", { name: "Resume" }).click();
  await sees(page, "All 4 upstreams in use are answering");
  assert.equal(await ask({ key: KEY }), 200);
});
