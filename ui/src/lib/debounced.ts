import { onScopeDispose, shallowRef, watch, type Ref } from "vue";

/** Follows a value once it has rested for `ms`. */
export function useDebounced<T>(source: Readonly<Ref<T>>, ms: number): Readonly<Ref<T>> {
  const settled = shallowRef(source.value);
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(source, (next) => {
    clearTimeout(timer);
    timer = setTimeout(() => (settled.value = next), ms);
  });
  onScopeDispose(() => clearTimeout(timer));
  return settled;
}
