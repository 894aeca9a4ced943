/** Whether an element has come near the visible part of the page: what is far away need not be made yet. */
import { onBeforeUnmount, onMounted, ref, type Ref } from "vue";

/** Something is ready before it is scrolled to. */
const MARGIN = "600px";

/** Turns to `true` once and stays so. */
export function useNear(element: Readonly<Ref<HTMLElement | null>>): Readonly<Ref<boolean>> {
  const isNear = ref(false);
  let observer: IntersectionObserver | undefined;
  onMounted(() => {
    observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        isNear.value = true;
        observer?.disconnect();
      },
      { rootMargin: MARGIN },
    );
    if (element.value) observer.observe(element.value);
  });
  onBeforeUnmount(() => observer?.disconnect());
  return isNear;
}
