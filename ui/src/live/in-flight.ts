/** Requests under way, as the feed tells of them. */
import { shallowRef } from "vue";
import { onFeed } from "./feed";

export interface InFlight {
  id: string;
  group: string;
  model: string;
  startedAt: Date;
}

/** More than this many are not worth looking at one by one. */
const MOST = 50;

export const inFlight = shallowRef<ReadonlyMap<string, InFlight>>(new Map());

/** Follows the feed until the returned function is called. */
export function followInFlight(): () => void {
  const now = new Map<string, InFlight>();
  const release = onFeed((event) => {
    if (event.type === "request_started")
      now.set(event.id, { id: event.id, group: event.group, model: event.model, startedAt: new Date() });
    else if (event.type === "request_finished") now.delete(event.id);
    else if (event.type === "lagged" || event.type === "resumed") now.clear();
    else return;
    inFlight.value = new Map([...now].slice(-MOST));
  });
  return () => {
    release();
    inFlight.value = new Map();
  };
}
