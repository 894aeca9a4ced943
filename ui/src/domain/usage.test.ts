import { describe, expect, it } from "vitest";
import { shownTokens } from "./usage";

describe("tokens as people see them", () => {
  it("are those reported", () => {
    expect(shownTokens({ tokens_fresh: 10, tokens_read: 2, tokens_output: 0, observed_input: 99 })).toEqual({
      input: "12",
      output: "0",
    });
  });
  it("are an estimate, and say so, where none were reported", () => {
    expect(shownTokens({ observed_input: 1234, observed_output: 5 })).toEqual({
      input: "about 1,234",
      output: "about 5",
    });
  });
  it("are nothing where nothing is known", () => {
    expect(shownTokens({})).toEqual({ input: "–", output: "–" });
  });
});
