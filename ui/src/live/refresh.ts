/** Which cached answers an event makes old. They are asked for again soon, in one go, and only if somebody looks at them. */
import type { QueryClient } from "@tanstack/vue-query";
import { onFeed, type Feed } from "./feed";

/** Events come in bursts; answers are renewed at most this often. */
const REST_MS = 1000;

const STALE: Record<Feed["type"], readonly string[] | "all"> = {
  health: ["upstreams", "members", "overview", "logs", "monitors"],
  request_started: ["overview"],
  request_finished: [],
  requests_stored: ["overview", "upstreams", "members", "keys", "groups", "key-uses"],
  compared: ["costs"],
  withheld: ["overview", "members", "groups", "upstreams"],
  probed: ["monitors", "probes"],
  alerted: [],
  alert_delivered: ["alerts", "alert-log"],
  revision: [
    "logs",
    "upstreams",
    "groups",
    "members",
    "keys",
    "settings",
    "revisions",
    "tags",
    "overview",
    "monitors",
    "alerts",
    "costs",
  ],
  database: "all",
  paused: ["overview", "status"],
  lagged: "all",
  resumed: "all",
};

export function refreshFromFeed(client: QueryClient): () => void {
  const waiting = new Set<string>();
  let everything = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  const renew = () => {
    timer = undefined;
    last = Date.now();
    if (everything) void client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== "upstream-models" });
    else for (const name of waiting) void client.invalidateQueries({ queryKey: [name] });
    everything = false;
    waiting.clear();
  };

  return onFeed((event) => {
    const stale = STALE[event.type];
    if (stale === "all") everything = true;
    else stale.forEach((name) => waiting.add(name));
    // What a person changed is shown at once; traffic may wait.
    const rest = event.type === "revision" ? 0 : Math.max(0, REST_MS - (Date.now() - last));
    if (timer && rest === 0) {
      clearTimeout(timer);
      timer = undefined;
    }
    timer ??= setTimeout(renew, rest);
  });
}
