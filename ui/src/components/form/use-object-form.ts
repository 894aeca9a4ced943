/** A form over one object: values, checks, saving; what the gateway refuses lands on its field. */
import { useForm } from "@tanstack/vue-form";
import { computed, provide, reactive, ref, shallowRef, type ComputedRef, type InjectionKey, type Ref } from "vue";
import type { ZodType } from "zod";
import { ApiFailure } from "@/api/failure";
import { ServerProblems } from "./problems";

export interface ObjectForm<T> {
  readonly values: T;
  readonly isDirty: boolean;
  readonly isBusy: boolean;
  /** A failure that is about no field of the form. */
  readonly failure: unknown;
  /** Somebody else's change, met on saving. */
  readonly conflict: ApiFailure | null;
  /** Changes a field, named by its path: `limits.rpm`. */
  set(path: string, value: unknown): void;
  /** The field was left: from now on it is checked in sight of the person. */
  leave(path: string): void;
  problem(path: string): string | undefined;
  submit(): Promise<void>;
  /** Begins again from these values. */
  reset(values: T): void;
  forgetConflict(): void;
}

export const OBJECT_FORM: InjectionKey<ObjectForm<Record<string, unknown>>> = Symbol("form");

interface Options<T> {
  initial: T;
  /** Made anew for each check, so that its sentences are in the present language. */
  schema: () => ZodType;
  save: (values: T) => Promise<unknown>;
}

/** The value at a path. */
export function valueAt(values: object, path: string): unknown {
  return path.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], values);
}

function sentence(errors: readonly unknown[]): string | undefined {
  const first = errors.find(Boolean) as { message?: string } | string | undefined;
  return typeof first === "string" ? first : first?.message;
}

export function useObjectForm<T extends object>({ initial, schema, save }: Options<T>): ObjectForm<T> {
  const server = new ServerProblems();
  const failure = shallowRef<unknown>(null);
  const conflict = shallowRef<ApiFailure | null>(null);
  const left = reactive(new Set<string>());
  const tried = ref(false);

  const check = ({ value }: { value: T }) => {
    const outcome = schema().safeParse(value);
    if (outcome.success) return undefined;
    const fields: Record<string, string> = {};
    for (const issue of outcome.error.issues) fields[issue.path.join(".")] ??= issue.message;
    return { fields };
  };

  const form = useForm({
    defaultValues: initial,
    validators: { onMount: check as never, onChange: check as never },
    canSubmitWhenInvalid: false,
    onSubmit: async ({ value }) => {
      failure.value = null;
      conflict.value = null;
      try {
        await save(value as T);
      } catch (why) {
        if (why instanceof ApiFailure && why.isConflict) conflict.value = why;
        else if (!server.take(why)) failure.value = why;
      }
    },
  });
  const state = form.useSelector((s) => s);
  const values = computed(() => state.value.values as T);

  const facade = reactive({
    values: values as ComputedRef<T>,
    isDirty: computed(() => state.value.isDirty),
    isBusy: computed(() => state.value.isSubmitting),
    failure: failure as Ref<unknown>,
    conflict: conflict as Ref<ApiFailure | null>,
    set(path: string, value: unknown) {
      server.clear(path);
      form.setFieldValue(path as never, value as never);
    },
    leave(path: string) {
      left.add(path);
    },
    problem(path: string) {
      const refused = server.of(path);
      if (refused) return refused;
      if (!tried.value && !left.has(path)) return undefined;
      const meta = state.value.fieldMeta as Record<string, { errors: unknown[] } | undefined>;
      return sentence(meta[path]?.errors ?? []);
    },
    async submit() {
      tried.value = true;
      await form.handleSubmit();
    },
    reset(next: T) {
      form.reset(next);
      left.clear();
      tried.value = false;
      failure.value = null;
      conflict.value = null;
    },
    forgetConflict() {
      conflict.value = null;
    },
  }) as unknown as ObjectForm<T>;
  provide(OBJECT_FORM, facade as never);
  return facade;
}
