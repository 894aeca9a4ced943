import { expect, it } from "vitest";
import { diagnostics } from "./diagnostics";

it("diagnostics hold no secret, whatever the log says", () => {
  const line = (message: string) => ({ number: 1, at: "2026-11-30T12:00:00Z", level: "info", target: "t", message });
  const report = diagnostics({
    status: undefined,
    settings: undefined,
    overview: undefined,
    shell: "browser",
    logs: [
      line("key hg-0123456789abcdef and sk-ant-0123456789"),
      line("Authorization: Bearer tokentoken"),
      line("socks5://me:word@127.0.0.1"),
    ],
  });
  expect(report).not.toMatch(/0123456789|tokentoken|me:word/);
  expect(report).toContain("hg-***");
});
