import { describe, expect, it } from "vitest";
import { formatExactMoney, formatMoney } from "@/i18n/format";
import { gapWords } from "./cost";

describe("amounts of money", () => {
  it("show as many digits as tell something", () => {
    expect(formatMoney("21.0712", "USD")).toBe("$21.07");
    expect(formatMoney("1234.5", "CNY")).toBe("¥1,234.50");
    expect(formatMoney("0.0063", "USD")).toBe("$0.0063");
    expect(formatMoney("0.00012345", "USD")).toBe("$0.00012");
    expect(formatMoney("0", "USD")).toBe("$0.00");
    expect(formatMoney("2.5", "PTS")).toBe("2.50 PTS");
    expect(formatMoney("-0.5", "USD")).toBe("−$0.5000");
    expect(formatMoney(null, "USD")).toBe("–");
  });

  it("are exact on hover", () => {
    expect(formatExactMoney("0.0001299", "USD")).toBe("0.0001299 USD");
  });
});

describe("what a cost leaves out", () => {
  it("is said in words, and a code of a newer gateway as it is", () => {
    expect(gapWords(["no_price.cache_read", "not_reported.output"])).toEqual([
      "no price for input from the cache",
      "output not reported",
    ]);
    expect(gapWords(["estimated"])[0]).toContain("estimated");
    expect(gapWords(["something.new"])).toEqual(["something.new"]);
    expect(gapWords(null)).toEqual([]);
  });
});
