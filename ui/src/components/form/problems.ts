/** What the gateway refused, by field, until that field is changed. */
import { reactive } from "vue";
import { ApiFailure } from "@/api/failure";
import { tellGateway } from "@/i18n/gateway";

/** `upstreams[relay-a].limits.rpm` is about the field `limits`, its part `rpm`. */
function fieldOf(path: string): string {
  return path.replace(/^(\w+\[[^\]]*\]|settings|values)\.?/, "");
}

export class ServerProblems {
  private readonly byPath = reactive(new Map<string, string>());

  /** Keeps what can be shown beside a field; `false` if the failure is about no field. */
  take(failure: unknown): boolean {
    this.byPath.clear();
    if (!(failure instanceof ApiFailure)) return false;
    const about = failure.field ? [{ path: failure.field, message: failure.message }] : [];
    for (const { path, message } of failure.problems.length > 0 ? failure.problems : about) {
      const field = fieldOf(path);
      if (field && !this.byPath.has(field)) this.byPath.set(field, tellGateway(message));
    }
    return this.byPath.size > 0;
  }

  /** The problem of a field or of a part of it. */
  of(field: string): string | undefined {
    return this.pathsOf(field).map((path) => this.byPath.get(path))[0];
  }

  clear(field: string): void {
    for (const path of this.pathsOf(field)) this.byPath.delete(path);
  }

  private pathsOf(field: string): string[] {
    const inside = (path: string) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
    return [...this.byPath.keys()].filter(inside);
  }
}
