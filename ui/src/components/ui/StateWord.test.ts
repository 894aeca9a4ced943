import { mount } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import StateMark, { type Kind } from "./StateMark.vue";
import StateWord from "./StateWord.vue";

const KINDS: Kind[] = ["healthy", "degraded", "down", "stopped", "info"];

describe("a state", () => {
  it("has a shape of its own for every kind", () => {
    const shapes = KINDS.map((kind) => mount(StateMark, { props: { kind } }).html().replace(kind, ""));
    expect(new Set(shapes).size).toBe(KINDS.length);
  });

  it("keeps its word for the tooltip and for screen readers where only the shape fits", () => {
    const shown = mount(StateWord, { props: { kind: "down", word: "Key rejected", hideWord: true } });
    expect(shown.text()).toBe("Key rejected");
    expect(shown.attributes("title")).toBe("Key rejected");
  });
});
