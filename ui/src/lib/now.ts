/** The time, once a second, while somebody looks at something that depends on it. */
import { onScopeDispose, ref, type Ref } from "vue";

const now = ref(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function follow(): void {
  clearInterval(timer);
  timer = undefined;
  if (watchers === 0 || document.hidden) return;
  now.value = Date.now();
  timer = setInterval(() => (now.value = Date.now()), 1000);
}

document.addEventListener("visibilitychange", follow);

export function useNow(): Readonly<Ref<number>> {
  watchers += 1;
  if (watchers === 1) follow();
  onScopeDispose(() => {
    watchers -= 1;
    if (watchers === 0) follow();
  });
  return now;
}

/** What is left of `ms` that were left when an answer arrived `at`: never more, for the second in `now` may be older. */
export function leftOf(ms: number, at: number, now: number): number {
  return Math.min(ms, Math.max(0, at + ms - now));
}
