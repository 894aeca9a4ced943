// Debian's Chromium, unable to reach anything but this machine.
import { chromium } from "playwright-core";

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-default-apps",
      "--no-first-run",
      "--disable-domain-reliability",
      "--no-pings",
      "--disable-features=OptimizationHints,MediaRouter,Translate",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

/** A page in one theme and language, logged in with a token; what the console complains of is collected. */
export async function openPage(
  browser,
  { theme = "light", language = "en", token, welcomed = true, width = 1280, height = 800 } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript(
    ([kept, session]) => {
      if (location.protocol === "about:") return;
      if (!localStorage.getItem("headgate.preferences")) localStorage.setItem("headgate.preferences", kept);
      if (session) sessionStorage.setItem("headgate.session", session);
    },
    [JSON.stringify({ theme, language, welcomed }), token],
  );
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    // That a request was refused is the page's business; the browser notes it all the same.
    const isStatus = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { context, page, complaints };
}
