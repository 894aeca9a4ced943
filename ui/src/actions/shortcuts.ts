/** Runs actions by their keys. */
import { onMounted, onUnmounted } from "vue";
import { actions } from "./registry";

export const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

function matches(event: KeyboardEvent, shortcut: string): boolean {
  const parts = shortcut.split("+");
  const key = parts.pop();
  const modifier = isApple ? event.metaKey : event.ctrlKey;
  return (
    event.key.toLowerCase() === key &&
    modifier === parts.includes("mod") &&
    event.altKey === parts.includes("alt") &&
    (isApple ? !event.ctrlKey : !event.metaKey)
  );
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input, textarea, select, [contenteditable], [role=menu], [role=listbox]");
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const action = actions.value.find((a) => a.shortcut && !a.disabled && matches(event, a.shortcut));
  if (!action?.shortcut) return;
  if (!action.shortcut.includes("+") && isTyping(event)) return;
  event.preventDefault();
  action.run();
}

export function useShortcuts(): void {
  onMounted(() => document.addEventListener("keydown", onKey));
  onUnmounted(() => document.removeEventListener("keydown", onKey));
}

/** A shortcut as it is printed on the key. */
export function spellShortcut(shortcut: string): string {
  return shortcut
    .split("+")
    .map((part) => {
      if (part === "mod") return isApple ? "⌘" : "Ctrl";
      if (part === "alt") return isApple ? "⌥" : "Alt";
      return part.length === 1 ? part.toUpperCase() : part;
    })
    .join(isApple ? "" : " ");
}
