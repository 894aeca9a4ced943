// Theme, density and language stand before the first paint, so that nothing flashes. Kept in step with state/preferences.ts.
(function () {
  var kept = {};
  try {
    kept = JSON.parse(localStorage.getItem("headgate.preferences") || "{}");
  } catch {
    kept = {};
  }
  var root = document.documentElement;
  var theme = kept.theme || "system";
  var dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "system" ? (dark ? "dark" : "light") : theme;
  root.dataset.density = kept.density || "comfortable";
  var language = kept.language || (/^zh\b/i.test(navigator.language) ? "zh" : "en");
  root.lang = language === "zh" ? "zh-CN" : "en";
})();
