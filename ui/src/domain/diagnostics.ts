/** A report for people who help. Names of upstreams and their states are in it; addresses, keys and secrets are not. */
import type { Schemas } from "@/api/client";
import type { SettingsView, Status } from "@/api/types";

/** Enough to see what happened before, little enough to paste. */
const LOG_LINES = 60;

interface Known {
  status: Status | undefined;
  settings: SettingsView | undefined;
  overview: Schemas["Overview"] | undefined;
  logs: readonly Schemas["LogLine"][];
  shell: string;
}

/** Whatever looks like a key, wherever it stands. */
function withoutSecrets(text: string): string {
  return text
    .replace(/\b(sk|hg|hs)-[\w-]{8,}/g, "$1-***")
    .replace(/(bearer\s+)\S+/gi, "$1***")
    .replace(/\/\/[^/\s@"]+@/g, "//***@");
}

export function diagnostics({ status, settings, overview, logs, shell }: Known): string {
  const report = {
    made_at: new Date().toISOString(),
    shell,
    browser: navigator.userAgent,
    status,
    settings:
      settings &&
      Object.fromEntries(settings.set.map((name) => [name, settings.values[name as keyof typeof settings.values]])),
    overview: overview && {
      status: overview.status,
      findings: overview.findings.map((finding) => finding.kind),
      groups: overview.groups.map((group) => ({
        name: group.name,
        members: group.members.map((member) => ({
          name: member.name,
          priority: member.priority,
          condition: member.condition,
        })),
      })),
    },
    log: logs.slice(-LOG_LINES).map((line) => `${line.at} ${line.level} ${line.target}: ${line.message}`),
  };
  return withoutSecrets(JSON.stringify(report, null, 2));
}
