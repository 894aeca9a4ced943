import { afterEach, describe, expect, it } from "vitest";
import { showLanguage } from ".";
import {
  formatAgo,
  formatClock,
  formatCount,
  formatMoneyScale,
  formatMs,
  formatShare,
  formatSpan,
  formatTime,
} from "./format";

afterEach(() => showLanguage("en"));

describe("figures", () => {
  it("of one scale have as many digits as it takes to tell them apart", () => {
    expect(formatMoneyScale([0, 0.5, 1], "USD")).toEqual(["$0.00", "$0.50", "$1.00"]);
    expect(formatMoneyScale([0, 50, 100], "CNY")).toEqual(["¥0", "¥50", "¥100"]);
    expect(formatMoneyScale([0, 0.0005, 0.001], "USD")).toEqual(["$0.0000", "$0.0005", "$0.0010"]);
    expect(formatMoneyScale([0, 0.25, 0.5], "PTS")).toEqual(["0.00 PTS", "0.25 PTS", "0.50 PTS"]);
    expect(formatMoneyScale([0], "USD")).toEqual(["$0.00"]);
  });

  it("are short and exact enough", () => {
    expect([0.31, 42, 310, 1234, 31_000, 412_000].map(formatMs)).toEqual([
      "0.3 ms",
      "42 ms",
      "0.31 s",
      "1.23 s",
      "31.0 s",
      "412 s",
    ]);
    expect([999, 99_999, 412_600, 412_600_000].map(formatCount)).toEqual(["999", "99,999", "412.6 k", "412.6 M"]);
    expect([formatShare(0.9934), formatShare(1), formatShare(null)]).toEqual(["99.3", "100", "–"]);
    expect([formatMs(null), formatCount(undefined)]).toEqual(["–", "–"]);
  });
});

describe("times", () => {
  it("are told in the person's language", async () => {
    expect([formatClock(252_000), formatClock(3_852_000), formatSpan(252_000)]).toEqual([
      "4:12",
      "1:04:12",
      "4 m 12 s",
    ]);
    const now = Date.parse("2026-11-30T12:00:00Z");
    expect(formatAgo("2026-11-30T11:59:56Z", now)).toBe("4 s ago");
    expect(formatAgo("2026-11-30T09:58:56Z", now)).toBe("2 h ago");
    await showLanguage("zh");
    expect(formatSpan(252_000)).toBe("4 分 12 秒");
    expect(formatAgo("2026-11-30T11:59:56Z", now)).toBe("4 秒前");
  });

  it("stand in the zone that is set", () => {
    expect(formatTime("2026-11-30T12:00:00Z", "Asia/Shanghai")).toBe("20:00:00");
  });
});
