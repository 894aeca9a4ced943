import { QueryClient } from "@tanstack/vue-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { host } from "@/host";
import { onFeed, startFeed, stopFeed } from "./feed";
import { refreshFromFeed } from "./refresh";

let push: (event: object) => void;

function streamOfEvents(): void {
  vi.spyOn(host, "fetch").mockImplementation(() => {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (event) => controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  streamOfEvents();
});
afterEach(() => {
  stopFeed();
  vi.useRealTimers();
});

describe("live events", () => {
  it("make answers old at once for a change, and together for traffic", async () => {
    const client = new QueryClient();
    const renewed: unknown[] = [];
    vi.spyOn(client, "invalidateQueries").mockImplementation((filter) =>
      Promise.resolve(void renewed.push((filter as { queryKey?: unknown[] })?.queryKey?.[0])),
    );
    const release = refreshFromFeed(client);
    startFeed();
    await vi.advanceTimersByTimeAsync(0);
    push({ type: "revision", revision: 3 });
    await vi.advanceTimersByTimeAsync(1);
    expect(renewed).toContain("groups");
    renewed.length = 0;
    for (let n = 0; n < 50; n += 1) push({ type: "requests_stored" });
    await vi.advanceTimersByTimeAsync(1);
    expect(renewed).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(renewed.filter((name) => name === "overview")).toHaveLength(1);
    release();
  });

  it("are told at once after a rest, and together in a burst, unless a person changed something", async () => {
    const told: string[] = [];
    const release = onFeed((event) => void told.push(event.type));
    startFeed();
    await vi.advanceTimersByTimeAsync(0);
    push({ type: "health" });
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(["health"]);
    for (let n = 0; n < 20; n += 1) push({ type: "request_finished" });
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(500);
    expect(told).toHaveLength(21);
    push({ type: "request_started" });
    push({ type: "revision", revision: 4 });
    await vi.advanceTimersByTimeAsync(1);
    expect(told.slice(21)).toEqual(["request_started", "revision"]);
    await vi.advanceTimersByTimeAsync(2000);
    push({ type: "request_started" });
    await vi.advanceTimersByTimeAsync(499);
    expect(told).toHaveLength(23);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toHaveLength(24);
    release();
  });

  it("are not asked for while nobody looks", async () => {
    const fetched = vi.mocked(host.fetch);
    vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    startFeed();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fetched).not.toHaveBeenCalled();
    vi.spyOn(document, "hidden", "get").mockReturnValue(false);
    document.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(0);
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});
