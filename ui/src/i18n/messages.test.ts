import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCES = join(process.cwd(), "src");

type Messages = Record<string, Record<string, string>>;

function read(language: string): Messages {
  const folder = join(SOURCES, "i18n", language);
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const entries = files.map((name): [string, Record<string, string>] => [
    name.replace(".json", ""),
    JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, string>,
  ]);
  return Object.fromEntries(entries);
}

const keysOf = (messages: Messages) =>
  Object.entries(messages).flatMap(([file, texts]) => Object.keys(texts).map((key) => `${file}.${key}`));

const english = read("en");
const chinese = read("zh");
const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(ts|vue)$/.test(name) && !/\.test\.ts$/.test(name))
  .map((name) => readFileSync(join(SOURCES, name), "utf8"))
  .join("\n");

describe("messages", () => {
  it("are the same set in both languages", () => {
    expect(keysOf(chinese).sort()).toEqual(keysOf(english).sort());
  });

  it("are all used", () => {
    const patterns = [...sources.matchAll(/`([a-z_]+\.[\w-]*(?:\$\{[^`]*?\}[\w-]*)+)`/g)].map(([, text = ""]) => {
      const literal = text.split(/\$\{[^`]*?\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      return new RegExp(`^${literal.join("[\\w-]+")}$`);
    });
    const unused = keysOf(english).filter(
      (key) =>
        !sources.includes(`"${key}"`) &&
        !sources.includes(`'${key}'`) &&
        !patterns.some((pattern) => pattern.test(key)),
    );
    expect(unused).toEqual([]);
  });

  it("have the same places for values in both languages", () => {
    const places = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();
    const different = keysOf(english).filter((key) => {
      const [file = "", ...rest] = key.split(".");
      const name = rest.join(".");
      return (
        JSON.stringify(places(english[file]?.[name] ?? "")) !== JSON.stringify(places(chinese[file]?.[name] ?? ""))
      );
    });
    expect(different).toEqual([]);
  });

  it("say nothing in the wrong tone and quote in the language's own way", () => {
    const wrong = /successfully|Oops|!$|！/;
    expect(
      Object.values(english)
        .flatMap(Object.values)
        .filter((text) => wrong.test(text as string)),
    ).toEqual([]);
    const curly = /[“”‘’"]/;
    expect(
      Object.values(chinese)
        .flatMap(Object.values)
        .filter((text) => curly.test(text as string)),
    ).toEqual([]);
  });

  it("leave a space between Chinese and Latin letters or digits", () => {
    const touching = /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/;
    const wrong = Object.values(chinese)
      .flatMap(Object.values)
      .filter((text) => touching.test((text as string).replace(/\{'?\|?'?\w*\}/g, " ")));
    expect(wrong).toEqual([]);
  });
});
