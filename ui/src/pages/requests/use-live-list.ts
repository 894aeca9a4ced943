/** New requests appear by themselves, but never under the pointer: meanwhile they are counted. */
import { useQueryClient } from "@tanstack/vue-query";
import { onScopeDispose, ref, watch, type Ref } from "vue";
import { onFeed } from "@/live/feed";

const REST_MS = 1000;
/** A request is recorded within this time after its end. */
const RECORDED_MS = 1300;

export function useLiveList(isHeld: Readonly<Ref<boolean>>, moveOn?: () => void) {
  const client = useQueryClient();
  const waiting = ref(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  function show(): void {
    clearTimeout(timer);
    timer = undefined;
    last = Date.now();
    waiting.value = 0;
    moveOn?.();
    for (const name of ["requests", "request-options"]) void client.invalidateQueries({ queryKey: [name] });
  }

  /** Soon, and once more when the last record is certain to be there. */
  function soon(): void {
    timer ??= setTimeout(show, Math.max(200, REST_MS - (Date.now() - last)));
    clearTimeout(late);
    late = setTimeout(() => !isHeld.value && show(), RECORDED_MS);
  }

  /** On request, even while held. */
  function showNow(): void {
    show();
    clearTimeout(late);
    late = setTimeout(show, RECORDED_MS);
  }

  const release = onFeed((event) => {
    if (event.type === "request_finished") waiting.value += 1;
    if (isHeld.value) return;
    if (event.type === "request_finished" || event.type === "lagged" || event.type === "resumed") soon();
  });
  watch(isHeld, (held) => {
    if (held) {
      clearTimeout(timer);
      timer = undefined;
    } else if (waiting.value > 0) soon();
  });
  onScopeDispose(() => {
    release();
    clearTimeout(timer);
    clearTimeout(late);
  });
  return { waiting, show: showNow };
}
