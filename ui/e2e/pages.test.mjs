// Every page: no finding of axe that matters, nothing on the console, nothing cut off. By default one theme per language.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { PAGES, visit } from "./pages.mjs";
import { assertAccessible, assertFits } from "./steps.mjs";
import { someBilling, someMonitors, someTraffic, startWorld } from "./world.mjs";

const LOOKS = process.env.HEADGATE_UI_FULL
  ? ["light", "dark"].flatMap((theme) => ["en", "zh"].map((language) => ({ theme, language })))
  : [
      { theme: "light", language: "en" },
      { theme: "dark", language: "zh" },
    ];

let world, browser;
before(async () => {
  world = await startWorld();
  await someTraffic(world);
  await someMonitors(world);
  await someBilling(world);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

for (const look of LOOKS) {
  test(`every page, ${look.theme}, ${look.language}`, async (t) => {
    const { page, context, complaints } = await openPage(browser, { ...look, token: world.token });
    for (const place of PAGES) {
      await t.test(place.name, async () => {
        complaints.length = 0;
        await visit(page, world.ui, place);
        await assertAccessible(page, place.name);
        await assertFits(page, place.name);
        assert.deepEqual(complaints, [], `console on ${place.name}`);
      });
    }
    await context.close();
  });
}

test("every page in the smallest window", async (t) => {
  const { page, context } = await openPage(browser, { token: world.token, width: 960, height: 640 });
  for (const place of PAGES) {
    await t.test(place.name, async () => {
      await visit(page, world.ui, place);
      await assertFits(page, place.name);
    });
  }
  await context.close();
});
