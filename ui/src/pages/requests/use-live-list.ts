/** New requests appear by themselves, but never under the pointer: meanwhile they are counted. */
import { useQueryClient } from "@tanstack/vue-query";
import { onScopeDispose, ref, watch, type Ref } from "vue";
import { onFeed } from "@/live/feed";
import { renewal } from "@/live/renewal";

export function useLiveList(isHeld: Readonly<Ref<boolean>>, moveOn?: () => void) {
  const client = useQueryClient();
  const waiting = ref(0);
  /** Somebody asked for all there is; the last of it may not be stored yet. */
  let owed = false;

  const { soon, now, cancel } = renewal(() => {
    waiting.value = 0;
    moveOn?.();
    return Promise.all(["requests", "request-options"].map((name) => client.invalidateQueries({ queryKey: [name] })));
  });

  /** On request, even while held. */
  function show(): void {
    owed = waiting.value > 0;
    now();
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
    if (held) cancel();
    else if (waiting.value > 0) soon();
  });
  onScopeDispose(() => {
    release();
    cancel();
  });
  return { waiting, show };
}
