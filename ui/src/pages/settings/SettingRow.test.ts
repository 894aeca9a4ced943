import { flushPromises } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import { Refusal, serveApi, show } from "@/testing/mount";
import SettingRow from "./SettingRow.vue";

const settings = {
  revision: 2,
  set: ["max_attempts"],
  values: { max_attempts: 5, connect_timeout: "10s" },
  defaults: { max_attempts: 3, connect_timeout: "10s" },
};

async function type(text: string) {
  const input = document.querySelector("input") as HTMLInputElement;
  input.value = text;
  input.dispatchEvent(new Event("input"));
  input.dispatchEvent(new Event("blur"));
  await flushPromises();
}

describe("a setting", () => {
  it("shows the value in effect and where it comes from", async () => {
    serveApi({});
    await show(SettingRow, { name: "max_attempts", kind: { kind: "whole", min: 1, max: 20 }, settings });
    expect(document.body.textContent).toContain("5, set here");
    expect(document.body.textContent).toContain("Back to 3");
  });

  it("is checked before it is sent, and then saved at once", async () => {
    const calls = serveApi({ "PATCH /settings": { ...settings, values: { ...settings.values, max_attempts: 7 } } });
    await show(SettingRow, { name: "max_attempts", kind: { kind: "whole", min: 1, max: 20 }, settings });
    await type("99");
    expect(document.body.textContent).toContain("A whole number from 1 to 20");
    expect(calls).toEqual([]);
    await type("7");
    expect(calls[0]).toMatchObject({ method: "PATCH", body: { revision: 2, values: { max_attempts: 7 } } });
  });

  it("keeps what was typed when the gateway refuses it", async () => {
    const refuse = () => {
      throw new Refusal(422, {
        code: "invalid",
        message: "no",
        problems: [{ path: "values", message: "that is too long" }],
      });
    };
    serveApi({ "PATCH /settings": refuse });
    await show(SettingRow, { name: "connect_timeout", kind: { kind: "span" }, settings });
    await type("9h");
    expect(document.body.textContent).toContain("that is too long");
    expect((document.querySelector("input") as HTMLInputElement).value).toBe("9h");
  });
});
