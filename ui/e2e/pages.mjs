// Every page and every state of it that is worth looking at.
export const PAGES = [
  { name: "overview", at: "#/overview", sees: ".panel" },
  { name: "groups", at: "#/groups", sees: "button[draggable]" },
  { name: "groups-explain", at: "#/groups?explain=claude-sonnet-5", sees: "tr.sel", scrollTo: "tr.sel" },
  { name: "groups-rules", at: "#/groups?sheet=rules", sees: ".sheet" },
  { name: "groups-new", at: "#/groups?sheet=new", sees: ".sheet" },
  { name: "groups-test", at: "#/groups?sheet=test", sees: ".sheet" },
  { name: "groups-history", at: "#/groups?sheet=history", sees: ".sheet li", click: ".sheet li button" },
  { name: "upstreams", at: "#/upstreams", sees: "tr[data-id]" },
  { name: "upstreams-filtered", at: "#/upstreams?main=relay&state=healthy&q=relay", sees: ".fchip.on" },
  { name: "upstreams-nothing", at: "#/upstreams?q=nothing-such", sees: ".empty" },
  { name: "upstreams-selected", at: "#/upstreams", sees: "tr[data-id]", click: "tr[data-id] .cb" },
  { name: "upstreams-detail", at: "#/upstreams", sees: "tr[data-id]", click: "tr[data-id] >> nth=2" },
  { name: "upstreams-new", at: "#/upstreams/new", sees: ".sheet" },
  { name: "upstreams-test", at: "#/upstreams/test", sees: ".sheet .st.healthy" },
  { name: "monitor", at: "#/monitor", sees: ".mon .last time" },
  { name: "monitor-nothing", at: "#/monitor?q=nothing-such", sees: ".empty" },
  { name: "monitor-new", at: "#/monitor/new", sees: ".sheet .line .cb" },
  { name: "monitor-detail", at: "#/monitor", sees: ".mon .last time", click: ".mon" },
  { name: "requests", at: "#/requests", sees: "tr[data-id]" },
  { name: "requests-detail", at: "#/requests?retried=yes", sees: "tr[data-id]", click: "tr[data-id]" },
  { name: "costs", at: "#/costs", sees: ".chart canvas" },
  { name: "costs-elsewhere", at: "#/costs", sees: "[data-elsewhere=was]", scrollTo: "[data-elsewhere=was]" },
  { name: "costs-week", at: "#/costs?window=7d&by=upstream", sees: ".chart canvas" },
  { name: "costs-detail", at: "#/costs", sees: "tr[data-id]", click: "tr[data-id]" },
  { name: "costs-to-requests", at: "#/costs", sees: "a.sp", click: "a.sp", then: ".fchip.on" },
  { name: "keys", at: "#/keys", sees: "tr[data-id]" },
  { name: "keys-new", at: "#/keys/new", sees: ".sheet" },
  { name: "keys-detail", at: "#/keys", sees: "tr[data-id]", click: "tr[data-id]" },
  { name: "settings", at: "#/settings", sees: ".panel input" },
  { name: "settings-database", at: "#/settings/database", sees: ".panel" },
  { name: "settings-vault", at: "#/settings/vault", sees: ".panel" },
  { name: "settings-alerts", at: "#/settings/alerts", sees: ".empty" },
  { name: "settings-prices", at: "#/settings/prices", sees: ".panel input" },
  { name: "settings-appearance", at: "#/settings/appearance", sees: ".seg" },
  { name: "settings-file", at: "#/settings/file", sees: ".panel" },
  { name: "settings-logs", at: "#/settings/logs", sees: ".log, .panel p" },
  { name: "settings-about", at: "#/settings/about", sees: ".kv" },
  { name: "palette", at: "#/overview", sees: ".panel", press: "Control+k", then: ".palette .item" },
  { name: "first-run", at: "#/first-run", sees: "#fr-address" },
  { name: "first-run-group", at: "#/first-run/group", sees: "#fr-group" },
  { name: "first-run-tools", at: "#/first-run/tools", sees: "#fr-model" },
  { name: "first-run-done", at: "#/first-run/done", sees: "h1" },
  { name: "not-found", at: "#/nothing-such", sees: "h1" },
];

/** Goes there and does what makes the state; resolves when it is on the screen. */
export async function visit(page, ui, place) {
  // The address without its fragment is the same page: begin anew.
  await page.goto("about:blank");
  await page.goto(ui + place.at);
  await page.locator(place.sees).first().waitFor({ timeout: 10_000 });
  if (place.click) {
    await page.locator(place.click).first().click();
    if (place.name.endsWith("detail")) await page.locator(".sheet .ft").waitFor();
  }
  if (place.press) await page.keyboard.press(place.press);
  if (place.then) await page.locator(place.then).first().waitFor();
  if (place.scrollTo) await page.locator(place.scrollTo).first().scrollIntoViewIfNeeded();
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(150); // the last answers of the first paint
}
