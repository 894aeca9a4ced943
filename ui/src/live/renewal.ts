/** When answers are renewed: soon after they grew old, but so that a gateway with much to add up is left in peace. */

/** Events come in bursts; answers are renewed at most this often, */
const REST_MS = 1000;
/** and never for more than a tenth of the time, */
const SHARE = 10;
/** but after this long in any case. */
const LONGEST_MS = 10_000;

export interface Renewal {
  /** After what is running, and a rest. */
  soon: () => void;
  /** At once: a person waits for it. */
  now: () => void;
  /** Not any more, until it is asked for again. */
  cancel: () => void;
}

export function renewal(renew: () => Promise<unknown>): Renewal {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = 0;
  let isOwed = false;
  let rested = 0;

  function cancel(): void {
    clearTimeout(timer);
    timer = undefined;
    isOwed = false;
  }

  async function run(): Promise<void> {
    cancel();
    running += 1;
    const began = Date.now();
    await renew().catch(() => undefined);
    const ended = Date.now();
    rested = Math.max(began + REST_MS, ended + Math.min((ended - began) * SHARE, LONGEST_MS));
    running -= 1;
    if (isOwed) soon();
  }

  function soon(): void {
    if (running > 0) isOwed = true;
    else timer ??= setTimeout(() => void run(), Math.max(0, rested - Date.now()));
  }

  return { soon, now: () => void run(), cancel };
}
