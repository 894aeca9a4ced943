/** Figures, spans and times as people read them. Unknown is a dash, never nought. */
import { i18n, text } from ".";

export const UNKNOWN = "–";

function locale(): string {
  return i18n.global.locale.value === ("zh" as never) ? "zh-CN" : "en-GB";
}

export function formatNumber(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined) return UNKNOWN;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Large counts in short: 412.6 M. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value < 100_000) return formatNumber(value);
  if (value < 1_000_000) return `${formatNumber(value / 1000, 1)} k`;
  return `${formatNumber(value / 1_000_000, 1)} M`;
}

/** Milliseconds with three significant digits: the figure and its unit. */
export function splitMs(ms: number | null | undefined): { figure: string; unit: "ms" | "s" } | null {
  if (ms === null || ms === undefined) return null;
  if (ms < 100) return { figure: formatNumber(ms, ms < 10 && !Number.isInteger(ms) ? 1 : 0), unit: "ms" };
  const seconds = ms / 1000;
  return { figure: formatNumber(seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0), unit: "s" };
}

export function formatMs(ms: number | null | undefined): string {
  const parts = splitMs(ms);
  return parts ? `${parts.figure} ${parts.unit}` : UNKNOWN;
}

/** A share between 0 and 1 as per cent, without the sign. */
export function formatShare(share: number | null | undefined, digits = 1): string {
  if (share === null || share === undefined) return UNKNOWN;
  const percent = share * 100;
  return formatNumber(percent, percent === 100 || percent === 0 ? 0 : digits);
}

const SIGNS: Record<string, string> = { USD: "$", CNY: "¥", EUR: "€", GBP: "£" };

/** An amount in as many digits as tell something: $21.07, $0.0063, $0.00012, 1.25 PTS. */
export function formatMoney(amount: string | null | undefined, currency: string | null | undefined): string {
  if (amount === null || amount === undefined) return UNKNOWN;
  const value = Number(amount);
  const size = Math.abs(value);
  // Two significant digits of what is less than a hundredth of a cent.
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.001 ? 4 : Math.min(10, 1 - Math.floor(Math.log10(size)));
  const figure = formatNumber(size, digits);
  const code = currency ?? "USD";
  const sign = SIGNS[code];
  return `${value < 0 ? "−" : ""}${sign ?? ""}${figure}${sign ? "" : ` ${code}`}`;
}

/** Amounts of a scale, all with the digits that tell neighbours apart: $0.00, $0.50, $1.00. */
export function formatMoneyScale(values: readonly number[], currency: string | null | undefined): string[] {
  const step = Math.abs((values[1] ?? 0) - (values[0] ?? 0));
  const digits =
    step === 0
      ? 2
      : Math.min(10, Math.max(step >= 1 ? 0 : 2, Math.ceil(-Math.log10(step) - 1e-9) + (isRound(step) ? 0 : 1)));
  const code = currency ?? "USD";
  const sign = SIGNS[code];
  return values.map((value) => `${sign ?? ""}${formatNumber(value, digits)}${sign ? "" : ` ${code}`}`);
}

/** 1, 2 or 5 times a power of ten. */
function isRound(step: number): boolean {
  const lead = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
  return [1, 2, 5].some((round) => Math.abs(lead - round) < 1e-6);
}

/** The same to the last digit, with the currency's code. */
export function formatExactMoney(amount: string | null | undefined, currency: string | null | undefined): string {
  return amount === null || amount === undefined ? UNKNOWN : `${amount} ${currency ?? "USD"}`;
}

/** A countdown: 4:12, or 1:04:12. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A span in a sentence: 4 m 12 s, 4 分 12 秒. The two largest units. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units: [number, "day" | "hour" | "minute" | "second"][] = [
    [86_400, "day"],
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ];
  const first = Math.max(
    0,
    units.findIndex(([size]) => seconds >= size),
  );
  const parts: string[] = [];
  let rest = seconds;
  for (const [size, unit] of units.slice(seconds === 0 ? 3 : first).slice(0, 2)) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0 || parts.length === 0) parts.push(text(`common.span_${unit}`, { n }));
  }
  return parts.join(" ");
}

/** How long ago: 4 s ago, 4 秒前. */
export function formatAgo(when: string | number | Date, now: number): string {
  const ms = now - new Date(when).getTime();
  if (ms < 1500) return text("common.just_now");
  const seconds = Math.round(ms / 1000);
  const largest = seconds < 60 ? 1000 : seconds < 3600 ? 60_000 : seconds < 86_400 ? 3_600_000 : 86_400_000;
  return text("common.ago", { span: formatSpan(Math.floor(ms / largest) * largest) });
}

function zoned(options: Intl.DateTimeFormatOptions, zone: string | undefined): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale(), { ...options, timeZone: zone, hourCycle: "h23" });
}

/** 14:32:07 */
export function formatTime(when: string | Date, zone?: string): string {
  return zoned({ hour: "2-digit", minute: "2-digit", second: "2-digit" }, zone).format(new Date(when));
}

/** 14:32 */
export function formatShortTime(when: string | Date, zone?: string): string {
  return zoned({ hour: "2-digit", minute: "2-digit" }, zone).format(new Date(when));
}

/** 28 Nov 2026, 14:32:07 */
export function formatMoment(when: string | Date, zone?: string): string {
  return zoned({ dateStyle: "medium", timeStyle: "medium" }, zone).format(new Date(when));
}

/** 28 Nov 2026 */
export function formatDay(when: string | Date, zone?: string): string {
  return zoned({ dateStyle: "medium" }, zone).format(new Date(when));
}

/** 28 Nov, 11月28日 */
export function formatDayOfMonth(when: string | Date, zone?: string): string {
  return zoned({ day: "numeric", month: "short" }, zone).format(new Date(when));
}
