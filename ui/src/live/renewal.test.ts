import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renewal } from "./renewal";

let calls: number[];
let lasts: number;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  calls = [];
  lasts = 0;
});
afterEach(() => void vi.useRealTimers());

const renew = () => {
  calls.push(Date.now());
  return new Promise<void>((resolve) => setTimeout(resolve, lasts));
};

/** Something grows old every ten milliseconds. */
async function busy(ms: number, soon: () => void): Promise<void> {
  for (let n = 0; n < ms / 10; n += 1) {
    soon();
    await vi.advanceTimersByTimeAsync(10);
  }
}

it("renews at once after a rest, and then every second", async () => {
  await busy(2500, renewal(renew).soon);
  expect(calls).toEqual([0, 1000, 2000]);
});

it("lets what takes long end, and waits ten times as long", async () => {
  lasts = 400;
  await busy(9500, renewal(renew).soon);
  expect(calls).toEqual([0, 4400, 8800]);
});

it("does not wait when a person does, and not at all when it is cancelled", async () => {
  const { soon, now, cancel } = renewal(renew);
  await busy(100, soon);
  now();
  await vi.advanceTimersByTimeAsync(1);
  expect(calls).toEqual([0, 100]);
  soon();
  cancel();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toHaveLength(2);
});

it("goes on after a failure", async () => {
  const failing = renewal(() => {
    calls.push(Date.now());
    return Promise.reject(new Error("away"));
  });
  await busy(1500, failing.soon);
  expect(calls).toEqual([0, 1000]);
});
