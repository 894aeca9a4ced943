/** The result of an action, with a way back. Errors that need reading are shown in place instead. */
import { markRaw } from "vue";
import { toast as show } from "vue-sonner";
import Toast from "@/components/shell/Toast.vue";

export interface ToastOptions {
  undo?: () => unknown;
  kind?: "healthy" | "degraded" | "down";
}

export function toast(message: string, { undo, kind }: ToastOptions = {}): void {
  // A toast that is on its way out can still be pressed: what it takes back is taken back once.
  let pressed = false;
  const once = () => {
    if (pressed) return;
    pressed = true;
    show.dismiss(id);
    return undo?.();
  };
  const id = show.custom(markRaw(Toast), {
    duration: undo ? 10_000 : 5000,
    componentProps: { message, kind, undo: undo && once },
  });
}
