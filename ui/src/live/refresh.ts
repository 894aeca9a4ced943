/** Which cached answers an event makes old. They are asked for again soon, in one go, and only if somebody looks at them. */
import type { Query, QueryClient } from "@tanstack/vue-query";
import { onFeed, type Feed } from "./feed";
import { renewal } from "./renewal";

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

const AT_ONCE: ReadonlySet<Feed["type"]> = new Set(["revision", "paused", "database", "resumed"]);

export function refreshFromFeed(client: QueryClient): () => void {
  const waiting = new Set<string>();
  let everything = false;

  const { soon, now } = renewal(() => {
    const queries = everything
      ? [{ predicate: (query: Query) => query.queryKey[0] !== "upstream-models" }]
      : [...waiting].map((name) => ({ queryKey: [name] }));
    everything = false;
    waiting.clear();
    return Promise.all(queries.map((of) => client.invalidateQueries(of)));
  });

  return onFeed((event) => {
    const stale = STALE[event.type];
    if (stale === "all") everything = true;
    else stale.forEach((name) => waiting.add(name));
    // What a person changed is shown at once, and so is what ends waiting; traffic may wait.
    if (AT_ONCE.has(event.type)) now();
    else if (everything || waiting.size > 0) soon();
  });
}
