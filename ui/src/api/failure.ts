/** An answer of the admin API that is no success, or none at all. */
import type { components } from "./schema";

type Detail = components["schemas"]["ErrorDetail"];

export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** What the sentence is about: the path in the object, `limits.rpm`. */
    readonly field: string | undefined,
    readonly problems: readonly { path: string; message: string }[],
    /** The object as it is now, after a conflict. */
    readonly current: Record<string, unknown> | undefined,
    readonly requestId: string | undefined,
  ) {
    super(message);
    this.name = "ApiFailure";
  }

  /** Somebody else changed the object meanwhile. */
  get isConflict(): boolean {
    return this.code === "revision_conflict";
  }

  /** The revision in which they did. */
  get currentRevision(): number | null {
    const revision = this.current?.revision;
    return typeof revision === "number" ? revision : null;
  }

  static of(status: number, body: unknown): ApiFailure {
    const error = (body as { error?: Partial<Detail> } | null | undefined)?.error;
    if (!error?.code || !error.message) {
      return new ApiFailure(status, "unexpected_answer", `HTTP ${status}`, undefined, [], undefined, undefined);
    }
    return new ApiFailure(
      status,
      error.code,
      error.message,
      error.field ?? undefined,
      error.problems ?? [],
      error.current ?? undefined,
      error.request_id,
    );
  }

  static unreachable(why: unknown): ApiFailure {
    const message = why instanceof Error ? why.message : String(why);
    return new ApiFailure(0, "unreachable", message, undefined, [], undefined, undefined);
  }
}
