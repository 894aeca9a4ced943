// Pictures of every page in both themes and languages: node e2e/screenshots.mjs [FOLDER]
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, openPage } from "./browser.mjs";
import { PAGES, visit } from "./pages.mjs";
import { history, probeHistory } from "./history.mjs";
import { oneCoolingDown, someBilling, someMonitors, someTraffic, startWorld } from "./world.mjs";

const folder = process.argv[2] ?? "screenshots";
await mkdir(folder, { recursive: true });
const world = await startWorld();
const browser = await launch();
try {
  await history(world, { count: 4200 });
  await someTraffic(world);
  await someMonitors(world);
  await someBilling(world);
  await probeHistory(world);
  for (const theme of ["light", "dark"]) {
    for (const language of ["en", "zh"]) {
      const { page, context } = await openPage(browser, { theme, language, token: world.token });
      for (const place of PAGES) {
        await visit(page, world.ui, place);
        await page.screenshot({ path: join(folder, `${place.name}.${theme}-${language}.png`) });
      }
      await context.close();
    }
  }
  await oneCoolingDown(world);
  for (const [theme, language] of [
    ["light", "en"],
    ["dark", "zh"],
  ]) {
    const { page, context } = await openPage(browser, { theme, language, token: world.token });
    await visit(page, world.ui, { at: "#/overview", sees: ".lane .st.degraded" });
    await page.locator(".spark").first().waitFor();
    await page.waitForTimeout(1500); // the last records
    await page.screenshot({ path: join(folder, `overview-degraded.${theme}-${language}.png`) });
    await visit(page, world.ui, { at: "#/monitor", sees: ".mon.degraded" });
    await page.screenshot({ path: join(folder, `monitor-cooling.${theme}-${language}.png`) });
    await page.locator(".mon.degraded").first().click();
    await page.locator(".sheet .note, .sheet .h3").first().waitFor();
    await page.screenshot({ path: join(folder, `monitor-cooling-detail.${theme}-${language}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await world.stop();
}
console.log(`pictures are in ${folder}`);
