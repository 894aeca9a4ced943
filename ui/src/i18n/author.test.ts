import { afterEach, describe, expect, it } from "vitest";
import { showLanguage, text } from ".";
import { authorText } from "./author";

describe("who changed something", () => {
  afterEach(() => showLanguage("en"));

  it("is told in the person's language, with the address of another machine", async () => {
    await showLanguage("zh");
    expect(authorText(text, "window")).toBe("窗口");
    expect(authorText(text, "browser at 192.168.1.7")).toBe("浏览器（192.168.1.7）");
    expect(authorText(text, "serve --apply")).toBe("启动时的配置文件");
  });

  it("is told as it was kept where it is not known", async () => {
    await showLanguage("en");
    expect(authorText(text, "somebody at work")).toBe("somebody at work");
    expect(authorText(text, "toString")).toBe("toString");
  });
});
