/** What became of every member at each choice of a request. The record keeps it as it was decided then. */
import type { Reason, RequestDetail } from "@/api/types";

export interface MemberReason {
  upstream: number;
  reason: Reason["reason"];
}

export function choicesOf(request: Pick<RequestDetail, "reasons">): MemberReason[][] {
  return Array.isArray(request.reasons) ? (request.reasons as MemberReason[][]) : [];
}
