/** New requests appear by themselves, but never under the pointer: meanwhile they are counted. */
import { useQueryClient } from "@tanstack/vue-query";
import { onScopeDispose, ref, watch, type Ref } from "vue";
import { onFeed } from "@/live/feed";

const REST_MS = 1000;

export function useLiveList(isHeld: Readonly<Ref<boolean>>, moveOn?: () => void) {
  const client = useQueryClient();
  const waiting = ref(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Somebody asked for all there is; the last of it may not be stored yet. */
  let owed = false;
  let last = 0;

  function show(): void {
    clearTimeout(timer);
    timer = undefined;
    last = Date.now();
    waiting.value = 0;
    moveOn?.();
    for (const name of ["requests", "request-options"]) void client.invalidateQueries({ queryKey: [name] });
  }

  function soon(): void {
    timer ??= setTimeout(show, Math.max(0, REST_MS - (Date.now() - last)));
  }

  /** On request, even while held. */
  function showNow(): void {
    owed = waiting.value > 0;
    show();
  }

  const release = onFeed((event) => {
    if (event.type === "request_finished") waiting.value += 1;
    const renewed = event.type === "requests_stored" || event.type === "lagged" || event.type === "resumed";
    if (renewed && (owed || !isHeld.value)) {
      owed = false;
      soon();
    }
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
  });
  return { waiting, show: showNow };
}
