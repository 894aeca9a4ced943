import { describe, expect, it } from "vitest";
import { requestAsCurl, snippetsFor, TOOLS } from "./snippets";

const access = { base: "http://127.0.0.1:8642", key: "hg-secret", model: "claude-haiku-5-5" };

describe("snippets", () => {
  it.each(TOOLS)("for %s name the address and the key", (tool) => {
    const text = snippetsFor(tool, access)
      .map((snippet) => snippet.text)
      .join("\n");
    expect(text).toContain("http://127.0.0.1:8642");
    expect(text).toContain("hg-secret");
  });

  it("repeat a request without its secret", () => {
    const text = requestAsCurl(access.base, { protocol: "claude", model: "it's", stream: true });
    expect(text).toContain("/v1/messages");
    expect(text).toContain("$HEADGATE_KEY");
    expect(text).toContain("it'\\''s");
    expect(text).toContain('"stream":true');
  });
});
