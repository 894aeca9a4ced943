/** The stream of live events: one connection for the page, again after a break, none while nobody looks. */
import { ref } from "vue";
import type { LiveEvent } from "@/api/types";
import { frames, host } from "@/host";

/** `resumed`: the stream is back after a break, so anything may have happened. */
export type Feed = LiveEvent | { type: "resumed" };

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;

const listeners = new Set<(event: Feed) => void>();

export const feedState = ref<"connecting" | "live" | "lost">("connecting");

/** Calls `listener` for each event until the returned function is called. */
export function onFeed(listener: (event: Feed) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Events come in bursts: they are told together, so that the page is drawn once for all of them. */
const REST_MS = 500;

const waiting: Feed[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;

function tellAll(): void {
  clearTimeout(timer);
  timer = undefined;
  last = Date.now();
  for (const event of waiting.splice(0)) for (const listener of listeners) listener(event);
}

/**
 * At once after a rest, and what a person changed. A request that begins may have ended a moment later: nobody needs to
 * see it waiting until then.
 */
function tell(event: Feed): void {
  waiting.push(event);
  const rest = event.type === "request_started" ? REST_MS : REST_MS - (Date.now() - last);
  if (event.type === "revision" || rest <= 0) tellAll();
  else timer ??= setTimeout(tellAll, rest);
}

/** One stream, until `signal` fires or it ends. */
async function listen(opened: () => void, signal: AbortSignal): Promise<void> {
  const response = await host.fetch(new Request(`${host.adminUrl}/events`, { signal }));
  if (!response.ok || !response.body) throw new Error(`events: ${response.status}`);
  opened();
  for await (const event of frames(response.body)) tell(event as LiveEvent);
}

let running: AbortController | undefined;

async function run(signal: AbortSignal, isFirst: boolean): Promise<void> {
  let first = isFirst;
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const opened = () => {
      pause = FIRST_PAUSE;
      feedState.value = "live";
      if (!first) tell({ type: "resumed" });
      first = false;
    };
    await listen(opened, signal).catch(() => undefined);
    if (signal.aborted) return;
    feedState.value = "lost";
    first = false;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

let started = false;

function connect(): void {
  if (running || document.hidden) return;
  running = new AbortController();
  void run(running.signal, !started);
  started = true;
}

function disconnect(): void {
  running?.abort();
  running = undefined;
}

function followVisibility(): void {
  if (document.hidden) disconnect();
  else connect();
}

/** Starts the feed; it rests while the page is hidden. */
export function startFeed(): void {
  document.addEventListener("visibilitychange", followVisibility);
  connect();
}

/** Ends the feed. */
export function stopFeed(): void {
  document.removeEventListener("visibilitychange", followVisibility);
  disconnect();
  started = false;
  clearTimeout(timer);
  timer = undefined;
  waiting.length = 0;
  last = 0;
}
