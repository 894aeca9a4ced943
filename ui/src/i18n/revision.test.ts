import { afterEach, describe, expect, it } from "vitest";
import { showLanguage, text } from ".";
import { kindText, summaryText } from "./revision";

describe("what a revision changed", () => {
  afterEach(() => showLanguage("en"));

  const kept = "added settings, changed upstream relay b, removed monitor relay-a m-1, 7 more";

  it("is told in the person's language", async () => {
    await showLanguage("zh");
    expect(summaryText(text, kept)).toBe("新增设置，修改上游 relay b，移除监测 relay-a m-1，另 7 项");
    expect(["upstreams", "keys", "settings", "else"].map((one) => kindText(text, one))).toEqual([
      "上游",
      "密钥",
      "设置",
      "else",
    ]);
  });

  it("is told in English as it was kept", async () => {
    await showLanguage("en");
    expect(summaryText(text, kept)).toBe(kept);
  });

  it("is told as it was kept where a name looks like more than one", async () => {
    await showLanguage("zh");
    expect(summaryText(text, "changed group a, b")).toBe("changed group a, b");
  });
});
