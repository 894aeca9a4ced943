// What tests do again and again.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Resolves once a condition holds; waiting is told by the page, not slept. */
export function until(page, condition, argument) {
  return page.waitForFunction(condition, argument, { timeout: 10_000 });
}

/** Waits for a text somewhere on the page. */
export function sees(page, text) {
  return page.getByText(text).first().waitFor({ timeout: 10_000 });
}

/** Takes back what was just done; a message on its way out still has its button for a moment. */
export function undo(page) {
  const staying = page.locator('[data-sonner-toast][data-removed="false"]');
  return staying.getByRole("button", { name: "Undo" }).click();
}

/** Findings of axe that matter. */
export async function axe(page) {
  // Evaluated by the browser's own tools, which no policy of the page concerns.
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((found) => ["serious", "critical"].includes(found.impact))
    .map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(" ")).join(" | ")}`);
}

export async function assertAccessible(page, where) {
  assert.deepEqual(await axe(page), [], `axe on ${where}`);
}

/** The page never scrolls sideways, and no button or heading is cut. */
export async function assertFits(page, where) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, `${where} scrolls sideways`);
}
