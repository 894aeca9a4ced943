import { describe, expect, it } from "vitest";
import { addressProblem, nameRule, proxyRule, spanRule, wholeNumber } from "./checks";
import { keyCheck, keyDraftOf } from "./key-draft";

const problem = (rule: { safeParse(value: unknown): { error?: { issues: { message: string }[] } } }, value: unknown) =>
  rule.safeParse(value).error?.issues[0]?.message;

describe("a name", () => {
  it("has 1 to 64 characters, none of them a slash, and is not taken", () => {
    const rule = nameRule(["relay-a"]);
    expect(problem(rule, "relay-b")).toBeUndefined();
    expect(problem(rule, "中".repeat(64))).toBeUndefined();
    expect(problem(rule, " ")).toBe("This is needed");
    expect(problem(rule, "x".repeat(10_240))).toBe("At most 64 characters");
    expect(problem(rule, "a/b")).toContain("“/”");
    expect(problem(rule, "RELAY-A")).toBe("There is one with this name already");
  });
});

describe("an address", () => {
  it("is http or https with a host and no user", () => {
    expect(addressProblem("https://relay.example/v1", false)).toBeNull();
    expect(addressProblem("127.0.0.1:8080", false)).toBeNull();
    expect(addressProblem("", false)).toBe("This is needed");
    expect(addressProblem("ftp://relay.example", false)).toContain("http://");
    expect(addressProblem("https://user:word@relay.example", false)).toContain("user name");
    expect(addressProblem("http://relay.example", false)).toContain("Allow plain http");
    expect(addressProblem("http://relay.example", true)).toBeNull();
  });
});

describe("other fields", () => {
  it("are checked with a sentence", () => {
    expect(problem(wholeNumber(1, 1000), "1.5")).toBe("A whole number from 1 to 1,000");
    expect(problem(wholeNumber(1, 10), "")).toBeUndefined();
    expect(problem(spanRule(), "10s")).toBeUndefined();
    expect(problem(spanRule(), "soon")).toContain("10s");
    expect(problem(proxyRule(), "direct")).toBeUndefined();
    expect(problem(proxyRule(), "127.0.0.1:1080")).toContain("socks5://");
  });

  it("of a key: a day that is over and a secret of the wrong shape are refused", () => {
    const check = keyCheck([], Date.parse("2026-11-30T12:00:00Z"));
    const draft = { ...keyDraftOf(undefined, "coding"), name: "laptop" };
    expect(check.safeParse(draft).success).toBe(true);
    expect(check.safeParse({ ...draft, expires: "2026-11-29" }).success).toBe(false);
    expect(check.safeParse({ ...draft, secret: "hg-short" }).success).toBe(false);
  });
});
