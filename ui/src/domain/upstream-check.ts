/** What an upstream's form must satisfy. */
import { z } from "zod";
import { text } from "@/i18n";
import { addressProblem, amountRule, nameRule, proxyRule, spanRule, wholeNumber } from "./checks";

const U32 = 4_294_967_295;

export function upstreamCheck(takenNames: readonly string[]) {
  return z
    .object({
      name: nameRule(takenNames),
      base_url: z.string(),
      allow_plain_http: z.boolean(),
      auth: z.string(),
      auth_header: z.string(),
      proxy: proxyRule(),
      max_context: wholeNumber(1, U32),
      limits: z.object({ concurrency: wholeNumber(1, U32), rpm: wholeNumber(1, U32), tpm: wholeNumber(1, U32) }),
      billing: z.object({
        kind: z.string(),
        credit_ratio: amountRule(),
        interval: spanRule(),
        low_balance: amountRule(),
        access_token: z.string(),
        user_id: wholeNumber(0, Number.MAX_SAFE_INTEGER),
      }),
      timeouts: z.object({ connect: spanRule(), first_response: spanRule(), idle: spanRule(), non_stream: spanRule() }),
    })
    .superRefine((draft, context) => {
      const problem = addressProblem(draft.base_url, draft.allow_plain_http);
      if (problem) context.addIssue({ code: "custom", path: ["base_url"], message: problem });
      if (draft.auth === "header" && !draft.auth_header.trim()) {
        context.addIssue({ code: "custom", path: ["auth_header"], message: text("errors.required") });
      }
      if (draft.billing.access_token.trim() && !draft.billing.user_id.trim()) {
        context.addIssue({ code: "custom", path: ["billing", "user_id"], message: text("upstreams.user_id_needed") });
      }
    });
}
