import { describe, expect, it } from "vitest";
import { monitor } from "@/testing/samples";
import { monitorDraftOf, monitorFileOf, newMonitorsCheck, newMonitorsDraft, wantedModels } from "./monitor-draft";

describe("a monitor's form", () => {
  it("gives back what it was given, in the words of the configuration file", () => {
    expect(monitorFileOf(monitorDraftOf(monitor({ interval: "10m", stream: false })))).toEqual({
      interval: "10m",
      endpoint: "auto",
      message: "hi",
      max_tokens: 16,
      stream: false,
    });
  });

  it("wants each model once, whether chosen or typed", () => {
    expect(wantedModels({ models: ["a", "b"], others: [" b ", "c", ""] })).toEqual(["a", "b", "c"]);
  });

  it("says what is missing or too small", () => {
    const draft = { ...newMonitorsDraft([{ id: 2 }]), interval: "3s", message: " ", max_tokens: "0" };
    const problems = newMonitorsCheck()
      .safeParse(draft)
      .error?.issues.map((issue) => `${issue.path}: ${issue.message}`);
    expect(problems).toEqual(
      expect.arrayContaining([
        "interval: At least 5s",
        "message: This is needed",
        "max_tokens: A whole number from 1 to 4,294,967,295",
      ]),
    );
    const none = newMonitorsCheck().safeParse(newMonitorsDraft([{ id: 2 }])).error?.issues[0];
    expect(none?.message).toBe("Choose or name at least one model");
    expect(
      newMonitorsCheck().safeParse({ ...newMonitorsDraft([{ id: 2 }]), others: ["m"], interval: "1m 30s" }).success,
    ).toBe(true);
  });
});
