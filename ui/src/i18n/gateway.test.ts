// @vitest-environment node
import { readFileSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { showLanguage } from ".";
import { asSentence, OF_DOCUMENTS, SENTENCES, tellGateway } from "./gateway";
import { OF_RECORDS, tellRecord } from "./records";

const DOMAIN = new URL("../../../crates/domain/src/", import.meta.url);
const ADMIN = new URL("../../../crates/gateway/src/admin/", import.meta.url);
const FORWARD = new URL("../../../crates/gateway/src/forward/", import.meta.url);
const INGRESS = new URL("../../../crates/gateway/src/ingress/", import.meta.url);

function sources(folder: URL): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return sources(new URL(`${entry.name}/`, folder));
    if (!entry.name.endsWith(".rs")) return [];
    return [readFileSync(new URL(entry.name, folder), "utf8").split("#[cfg(test)]")[0] ?? ""];
  });
}

/** The arguments of a call, from the parenthesis that opens them to the one that closes them. */
function argumentsAt(source: string, open: number): string {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    if (source[at] === '"') {
      do at = source.indexOf('"', at + 1);
      while (at > 0 && source[at - 1] === "\\");
      if (at < 0) break;
    } else if (source[at] === "(") depth += 1;
    else if (source[at] === ")" && (depth -= 1) === 0) return source.slice(open, at + 1);
  }
  return "";
}

/** The last text of each call: before it stand paths. */
function toldBy(call: RegExp, folder: URL): string[] {
  return sources(folder).flatMap((source) =>
    [...source.matchAll(call)].flatMap((found) => {
      const inside = argumentsAt(source, (found.index ?? 0) + found[0].length - 1);
      const last = [...inside.matchAll(/"((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1];
      // A path alone: the words are made elsewhere.
      return last && last.includes(" ") ? [asSentence(last)] : [];
    }),
  );
}

describe("the gateway's sentences", () => {
  afterEach(() => showLanguage("en"));

  it("are all known in Chinese, of configurations and of requests to the admin API", () => {
    const told = [
      ...toldBy(/(?:\.problem|Problem::new)\(/g, DOMAIN),
      ...toldBy(/(?<!\.map_)\bErr\(/g, DOMAIN),
      ...toldBy(/\bwrong\.push\(/g, DOMAIN),
      ...toldBy(/ApiError::bad_request\(/g, ADMIN),
    ];
    expect(told.length).toBeGreaterThan(60);
    const known = new Set(SENTENCES.map(([english]) => english));
    expect([...new Set(told)].filter((sentence) => !known.has(sentence))).toEqual([]);
  });

  it("are all known in Chinese, of requests and attempts that failed", async () => {
    const reached = "the upstream cannot be reached: {} ({})";
    const told = [
      ...toldBy(/\bFailure::new\(/g, FORWARD),
      ...toldBy(/\bmessage = format!\(/g, FORWARD),
      ...toldBy(/\bconnect\(/g, FORWARD).map((what) => reached.replace("{}", what).replace("{what}", what)),
      ...toldBy(/\bRefusal::\w+,\s*format!\(/g, INGRESS),
    ].filter((sentence) => sentence !== reached);
    expect(told.length).toBeGreaterThan(35);
    const known = new Set(OF_RECORDS.map(([english]) => english));
    expect([...new Set(told)].filter((sentence) => !known.has(sentence))).toEqual([]);
    await showLanguage("zh");
    expect(tellRecord("upstream answered HTTP 503")).toBe("上游返回 HTTP 503");
    expect(tellRecord("there is no such model")).toBe("there is no such model");
  });

  it("keep their parts, and are told as they are in English or where they are unknown", async () => {
    expect(tellGateway("the group 'coding' is not configured")).toBe("the group 'coding' is not configured");
    await showLanguage("zh");
    expect(tellGateway("the group 'coding' is not configured")).toBe("没有配置分组「coding」");
    expect(tellGateway("'a*: b*c*': neither side is empty, and the target has no more '*' than the pattern")).toBe(
      "「a*: b*c*」：两边都不能为空，且目标中的 * 不能多于模式",
    );
    expect(tellGateway("no credential 'x' is stored; write { value: … } or { env: NAME }")).toContain("「x」");
    expect(tellGateway("something of an upstream's own")).toBe("something of an upstream's own");
  });

  it("of the library that reads documents are told, too, the longest that fits", async () => {
    await showLanguage("zh");
    expect(tellGateway("unknown field `wieght`, expected one of `upstream`, `weight`")).toBe(
      "未知字段「wieght」，应为以下之一：`upstream`, `weight`",
    );
    expect(tellGateway("unknown field `a`, expected `b` or `c`")).toBe("未知字段「a」，应为 `b` or `c`");
    expect(tellGateway('invalid type: string "many", expected u32')).toBe('类型不对：string "many"，应为 u32');
    expect(tellGateway("missing field `upstream`")).toBe("缺少字段「upstream」");
  });

  it("are each listed once, with as many parts on both sides", () => {
    for (const list of [SENTENCES, OF_RECORDS])
      expect(new Set(list.map(([english]) => english)).size).toBe(list.length);
    for (const [english, chinese] of [...SENTENCES, ...OF_DOCUMENTS, ...OF_RECORDS]) {
      const count = (text: string, part: RegExp) => text.match(part)?.length ?? 0;
      expect([english, count(chinese, /\{\d\}/g)]).toEqual([english, count(english, /\{\}/g)]);
    }
  });
});
