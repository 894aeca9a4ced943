import { describe, expect, it } from "vitest";
import { cleanAddress, cleanSecret, nameFor, readPasted } from "./paste";

describe("a pasted key", () => {
  it.each([
    [' "sk-abc123" ', "sk-abc123"],
    ["sk-abc 123\n456", "sk-abc123456"],
    ["Bearer sk-abc", "sk-abc"],
    ["Authorization: Bearer sk-abc", "sk-abc"],
    ["export RELAY_KEY='sk-abc'", "sk-abc"],
    ["“sk-abc”", "sk-abc"],
    ["x-api-key: sk-abc\u200b", "sk-abc"],
  ])("is cleaned: %j", (typed, clean) => expect(cleanSecret(typed)).toBe(clean));
});

describe("a pasted address", () => {
  it.each([
    [" 'https://relay.example/v1' ", "https://relay.example/v1"],
    ["relay.example", "https://relay.example"],
    ["127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
    ["localhost:1234", "http://localhost:1234"],
    ["no address", "no address"],
  ])("is cleaned: %j", (typed, clean) => expect(cleanAddress(typed)).toBe(clean));
});

describe("a pasted text", () => {
  it("may be an address and a key", () => {
    expect(readPasted("https://relay.example/v1 sk-0123456789abcdef")).toEqual([
      { address: "https://relay.example/v1", secret: "sk-0123456789abcdef" },
    ]);
    expect(readPasted("key: sk-0123456789abcdef,\nurl https://relay.example")).toEqual([
      { address: "https://relay.example", secret: "sk-0123456789abcdef" },
    ]);
  });

  it("may be variables, by their prefixes", () => {
    const text = `# two of them
      export OPENAI_BASE_URL="https://a.example/v1"
      export OPENAI_API_KEY=sk-openai-0123456789
      ANTHROPIC_BASE_URL=https://b.example
      ANTHROPIC_AUTH_TOKEN='sk-ant-0123456789'`;
    expect(readPasted(text)).toEqual([
      { address: "https://a.example/v1", secret: "sk-openai-0123456789" },
      { address: "https://b.example", secret: "sk-ant-0123456789" },
    ]);
  });

  it("may be a table of names, addresses and keys", () => {
    expect(readPasted("relay-a | https://a.example | sk-a\nrelay-b | b.example | sk-b")).toEqual([
      { name: "relay-a", address: "https://a.example", secret: "sk-a" },
      { name: "relay-b", address: "https://b.example", secret: "sk-b" },
    ]);
  });

  it("may be JSON", () => {
    expect(readPasted('[{"name":"a","base_url":"https://a.example","api_key":"sk-a"}]')).toEqual([
      { name: "a", address: "https://a.example", secret: "sk-a" },
    ]);
  });

  it("may be nothing of the kind", () => {
    expect(readPasted("")).toEqual([]);
    expect(readPasted("hello there")).toEqual([]);
    expect(readPasted("x".repeat(10_240))).toHaveLength(1);
  });
});

describe("a name for an address", () => {
  it("is the telling part of its host, and not taken", () => {
    expect(nameFor("https://api.relay-a.example/v1")).toBe("relay-a");
    expect(nameFor("http://127.0.0.1:8080")).toBe("127.0.0.1-8080");
    expect(nameFor("https://relay.example", ["Relay", "relay-2"])).toBe("relay-3");
    expect(nameFor("nonsense")).toBe("upstream");
  });
});
