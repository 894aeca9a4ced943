// What the page does while something is away, and with bad input.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stage } from "./stage.mjs";
import { sees, until } from "./steps.mjs";

let world, page;
stage((opened) => ({ world, page } = opened));

/** The database's processes: the one that holds the cluster, and its children. */
async function databaseProcesses() {
  const names = await readdir(world.data, { recursive: true });
  const file = names.find((name) => name.endsWith("postmaster.pid"));
  const first = Number((await readFile(join(world.data, file), "utf8")).split("\n")[0]);
  const children = (await readFile(`/proc/${first}/task/${first}/children`, "utf8"))
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return [first, ...children];
}

test("while the database is away, what is known stays readable and a change is refused clearly", async () => {
  await page.goto(`${world.ui}#/upstreams`);
  await page.locator("tr[data-id]").first().waitFor();
  const processes = await databaseProcesses();
  for (const pid of processes) process.kill(pid, "SIGSTOP");
  try {
    // Nobody has to ask: the gateway tells.
    await page.locator(".banner", { hasText: "The database does not answer" }).waitFor({ timeout: 15_000 });
    await page.locator("tr[data-id]", { hasText: "relay-a" }).click();
    await page.getByLabel("Region").fill("eu");
    await page.locator(".sheet button[type=submit]").click();
    await page.locator(".sheet [role=alert]", { hasText: "database" }).waitFor({ timeout: 40_000 });
    assert.equal(await page.getByLabel("Region").inputValue(), "eu");
    await page.keyboard.press("Escape");
    assert.equal(await world.ask(), 200);
  } finally {
    for (const pid of processes.reverse()) process.kill(pid, "SIGCONT");
  }
  await page.locator(".banner").waitFor({ state: "detached", timeout: 20_000 });
});

test("every form says in place what is wrong", async () => {
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/upstreams/new`);
  await page.getByLabel("Name", { exact: true }).fill("x".repeat(10_240));
  await page.getByLabel("Address", { exact: true }).fill("ftp://relay.example");
  await page.getByLabel("Proxy").fill("somewhere");
  await page.locator(".sheet button[type=submit]").click();
  for (const sentence of ["At most 64 characters", "An address begins with http", "An address such as socks5"])
    await sees(page, sentence);
  await page.getByLabel("Name", { exact: true }).fill("relay-a");
  await sees(page, "There is one with this name already");
  await page.getByLabel("Name", { exact: true }).fill("loop");
  await page.getByLabel("Proxy").fill("");
  await page.getByLabel("Address", { exact: true }).fill(world.url);
  await page.locator(".sheet button[type=submit]").click();
  // What only the gateway can know lands on its field, too.
  await page.locator(".sheet .problem").first().waitFor();
});

test("a host that cannot be reached is said to be so", async () => {
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/upstreams/new`);
  await page.locator("#paste").fill("http://127.0.0.1:1 sk-nobody-0123456789");
  await sees(page, "No answer");
});

test("a page whose gateway is gone says so and goes on by itself", async () => {
  await page.goto("about:blank");
  await page.goto(`${world.ui}#/upstreams`);
  await page.locator("tr[data-id]").first().waitFor();
  const mend = await world.cut();
  await page.locator(".banner", { hasText: "The gateway does not answer" }).waitFor();
  assert.ok((await page.locator("tr[data-id]").count()) > 0);
  await mend();
  await until(page, () => !document.querySelector(".banner"));
});
