// A world and one page in it, for all tests of a file.
import { after, before } from "node:test";
import { launch, openPage } from "./browser.mjs";
import { startWorld } from "./world.mjs";

/** Hands over `{ world, browser, page, context }` before the first test, and ends all of it after the last. */
export function stage(take) {
  let world, browser, context;
  before(async () => {
    world = await startWorld();
    browser = await launch();
    const opened = await openPage(browser, { token: world.token });
    context = opened.context;
    take({ world, browser, context, page: opened.page });
  });
  after(async () => {
    await context?.close();
    await browser?.close();
    await world?.stop();
  });
}
