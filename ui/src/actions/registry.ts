/** Everything that can be done by name. The palette, buttons, menus and shortcuts all draw on this one list. */
import { computed, onScopeDispose, shallowReactive, toValue, type Component, type MaybeRefOrGetter } from "vue";

export interface Action {
  id: string;
  /** What it does, in the person's language. */
  label: string;
  icon?: Component;
  /** `mod+k`, `alt+1`, `/`. */
  shortcut?: string;
  /** Heading in the palette. */
  section?: string;
  /** Not offered now. */
  disabled?: boolean;
  run: () => unknown;
}

const sources = shallowReactive(new Set<MaybeRefOrGetter<readonly Action[]>>());

/** Everything offered now. */
export const actions = computed<readonly Action[]>(() => [...sources].flatMap((source) => toValue(source)));

/** Offers actions for as long as the calling scope lives. */
export function offer(source: MaybeRefOrGetter<readonly Action[]>): void {
  sources.add(source);
  onScopeDispose(() => sources.delete(source));
}

export function actionById(id: string): Action | undefined {
  return actions.value.find((action) => action.id === id);
}
