/** The two languages. Messages are compiled when the page is built; a language is loaded when it is first used. */
import { createI18n, useI18n } from "vue-i18n";
import { watch } from "vue";
import type { Language } from "@/state/preferences";
import type { MessageKey } from "./messages";

export type { MessageKey } from "./messages";

const LOAD: Record<Language, () => Promise<{ default: object }>> = {
  en: () => import("./en"),
  zh: () => import("./zh"),
};

export const i18n = createI18n({ legacy: false, locale: "en", fallbackLocale: "en", messages: {} });

/** Shows a language, loading it if need be. */
export async function showLanguage(language: Language): Promise<void> {
  if (!i18n.global.availableLocales.includes(language as never)) {
    const { default: messages } = await LOAD[language]();
    i18n.global.setLocaleMessage(language as never, messages as never);
  }
  i18n.global.locale.value = language as never;
}

/** Follows the person's choice. */
export async function followLanguage(language: () => Language): Promise<void> {
  await showLanguage(language());
  watch(language, (next) => void showLanguage(next));
}

/** One message: `{name}` is replaced from `named`, `a | b` chosen by `count`. */
export type Text = (key: MessageKey, named?: Record<string, unknown>, count?: number) => string;

/** Messages outside of components. */
export const text: Text = (key, named = {}, count) =>
  count === undefined ? i18n.global.t(key, named) : i18n.global.t(key, { n: count, ...named }, count);

/** Messages in a component. */
export function useText(): Text {
  useI18n({ useScope: "global" });
  return text;
}
