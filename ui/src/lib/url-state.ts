/** State that lives in the address, so that a view can be restored and shared. */
import { computed, type WritableComputedRef } from "vue";
import { useRoute, useRouter } from "vue-router";

type Query = Record<string, string | undefined>;

/** Changes to one tick's query are made together. */
let pending: Query | undefined;

function useQueryWriter(): (changes: Query) => void {
  const route = useRoute();
  const router = useRouter();
  return (changes) => {
    if (pending) {
      Object.assign(pending, changes);
      return;
    }
    pending = { ...changes };
    queueMicrotask(() => {
      const query = { ...route.query, ...pending };
      pending = undefined;
      void router.replace({ query });
    });
  };
}

/** One text; absent when empty. Whatever changes takes `reset` (such as the page number) out of the address. */
export function useUrlText(name: string, fallback = "", reset?: string): WritableComputedRef<string> {
  const route = useRoute();
  const write = useQueryWriter();
  return computed({
    get: () => (typeof route.query[name] === "string" ? route.query[name] : fallback),
    set: (value) => write({ [name]: value === fallback ? undefined : value, ...(reset ? { [reset]: undefined } : {}) }),
  });
}

/** Several values, separated by commas. */
export function useUrlList<T extends string>(name: string, reset?: string): WritableComputedRef<T[]> {
  const text = useUrlText(name, "", reset);
  return computed({
    get: () => (text.value ? (text.value.split(",").map(decodeURIComponent) as T[]) : []),
    set: (values) => (text.value = values.map(encodeURIComponent).join(",")),
  });
}

/** A number from 1. */
export function useUrlNumber(name: string, fallback: number, reset?: string): WritableComputedRef<number> {
  const text = useUrlText(name, String(fallback), reset);
  return computed({
    get: () => Math.max(1, Number.parseInt(text.value, 10) || fallback),
    set: (value) => (text.value = String(value)),
  });
}
