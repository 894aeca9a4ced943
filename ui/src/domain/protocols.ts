/** Which kinds of upstream take a client's protocol as it is. */
import type { Protocol, UpstreamKind } from "@/api/types";

const OWN: Record<Protocol, readonly UpstreamKind[]> = {
  chat: ["openai"],
  responses: ["openai-response", "codex"],
  claude: ["claude"],
};

export function speaks(kind: UpstreamKind, protocol: Protocol): boolean {
  return kind === "passthrough" || OWN[protocol].includes(kind);
}
