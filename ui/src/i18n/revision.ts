/** What a revision changed, in the person's language; the gateway keeps it in English. */
import type { Text } from ".";

const ACTIONS = { added: "groups.did_add", changed: "groups.did_change", removed: "groups.did_remove" } as const;
const KINDS = {
  upstream: "groups.kind_upstream",
  group: "groups.kind_group",
  key: "groups.kind_key",
  monitor: "groups.kind_monitor",
  alert: "groups.kind_alert",
  settings: "groups.kind_settings",
} as const;
const PART = /^(added|changed|removed) (settings|(upstream|group|key|monitor|alert) (.+))$/;

function part(t: Text, words: string): string | undefined {
  const more = /^(\d+) more$/.exec(words)?.[1];
  if (more) return t("groups.more_changes", { n: more });
  const [, action, , kind = "settings", name = ""] = PART.exec(words) ?? [];
  if (!action) return undefined;
  const what = t(KINDS[kind as keyof typeof KINDS]);
  return t(ACTIONS[action as keyof typeof ACTIONS], { what: name ? `${what} ${name}` : what });
}

/** As it was kept where a name has the separator in it. */
export function summaryText(t: Text, summary: string): string {
  const parts = summary.split(", ").map((words) => part(t, words));
  return parts.some((words) => words === undefined) ? summary : parts.join(t("groups.list_comma"));
}

/** One of the file's sections, as a kind of thing. */
export function kindText(t: Text, section: string): string {
  const kind = section === "settings" ? section : section.replace(/s$/, "");
  return Object.hasOwn(KINDS, kind) ? t(KINDS[kind as keyof typeof KINDS]) : section;
}
