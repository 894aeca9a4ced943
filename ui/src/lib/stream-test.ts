/** A streamed test: its text so far, how it ended, and stopping it. */
import { onScopeDispose, reactive } from "vue";
import type { TestStep } from "@/api/types";
import { explainFailure } from "./explain-failure";

type Finished = Extract<TestStep, { type: "finished" }>;

export interface StreamTest {
  running: boolean;
  text: string;
  model: string;
  finished: Finished | null;
  /** It could not be made at all. */
  failure: string | null;
  stopped: boolean;
  run(start: (signal: AbortSignal) => AsyncGenerator<TestStep>): Promise<void>;
  stop(): void;
}

export function useStreamTest(): StreamTest {
  let control: AbortController | undefined;
  const test: StreamTest = reactive({
    running: false,
    text: "",
    model: "",
    finished: null,
    failure: null,
    stopped: false,
    async run(start) {
      control?.abort();
      const own = (control = new AbortController());
      Object.assign(test, { running: true, text: "", model: "", finished: null, failure: null, stopped: false });
      try {
        for await (const step of start(own.signal)) {
          if (step.type === "started") test.model = step.model;
          else if (step.type === "content") test.text += step.text;
          else test.finished = step;
        }
      } catch (why) {
        if (!own.signal.aborted) test.failure = explainFailure(why);
      } finally {
        if (control === own) test.running = false;
      }
    },
    stop() {
      control?.abort();
      test.running = false;
      test.stopped = true;
    },
  });
  onScopeDispose(() => control?.abort());
  return test;
}
