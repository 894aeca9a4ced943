import { flushPromises } from "@vue/test-utils";
import { describe, expect, it, vi } from "vitest";
import { Refusal, serveApi, show } from "@/testing/mount";
import { alertTarget, delivery, list } from "@/testing/samples";
import AlertsSection from "./AlertsSection.vue";
import DesktopNotices from "./DesktopNotices.vue";

const settings = {
  revision: 2,
  set: [],
  values: { alert_debounce: "1m" },
  defaults: { alert_debounce: "1m" },
};

async function section(answers: Record<string, unknown>) {
  const calls = serveApi({ "GET /alerts": list([]), "GET /alerts/log": list([]), ...answers });
  await show(AlertsSection, { settings });
  await flushPromises();
  return calls;
}

const page = () => document.body.textContent ?? "";
const press = async (name: string) => {
  const buttons = [...document.querySelectorAll("button")];
  const found = buttons.find(
    (button) => button.getAttribute("aria-label") === name || button.textContent?.trim() === name,
  );
  if (!found) throw new Error(`no button ${name}`);
  found.click();
  await flushPromises();
};
const type = (label: string, text: string) => {
  const id = [...document.querySelectorAll("label")].find((l) => l.textContent?.startsWith(label))?.htmlFor ?? "";
  const input = document.getElementById(id) as HTMLInputElement;
  input.value = text;
  input.dispatchEvent(new Event("input"));
};

describe("alerts", () => {
  it("say what they are for while there is no target", async () => {
    await section({});
    expect(page()).toContain("Nobody is told yet");
    expect(page()).toContain("Nothing was sent yet");
  });

  it("show a target with what became of the last message, and never its address", async () => {
    const failed = delivery({ outcome: "failed", status: 503, attempts: 4, error: "it answered 503" });
    await section({
      "GET /alerts": list([alertTarget({ last: failed })]),
      "GET /alerts/log": list([{ ...failed, target_name: "duty" }]),
    });
    expect(page()).toContain("DingTalk");
    expect(page()).toContain("https://oapi.dingtalk.com/***");
    expect(page()).toContain("it answered 503");
    expect(page()).toContain("4 attempts");
    expect(page()).toContain("Group coding is down.");
  });

  it("try a target and show the outcome", async () => {
    const calls = await section({
      "GET /alerts": list([alertTarget()]),
      "POST /alerts/40/test": delivery({ outcome: "failed", error: "it could not be reached" }),
    });
    await press("Send a test to duty");
    expect(calls.some((call) => call.path === "/alerts/40/test")).toBe(true);
    expect(calls.filter((call) => call.path === "/alerts" && call.method === "GET").length).toBeGreaterThan(1);
  });

  it("change a target without its address, which nobody can read back", async () => {
    const calls = await section({
      "GET /alerts": list([alertTarget()]),
      "PATCH /alerts/40": { id: 40, revision: 8 },
    });
    await press("Edit duty");
    type("Name", "night duty");
    await press("Save");
    const patch = calls.find((call) => call.method === "PATCH");
    expect(patch?.body).toEqual({ name: "night duty", revision: 7 });
  });

  it("put what the gateway refuses on its field", async () => {
    const refuse = () => {
      const problems = [{ path: "url", message: "is a link-local or metadata address, which is never called" }];
      throw new Refusal(422, { code: "invalid", message: "no", problems });
    };
    await section({ "GET /alerts": list([alertTarget()]), "PATCH /alerts/40": refuse });
    await press("Edit duty");
    type("Address", "http://169.254.169.254/x");
    await press("Save");
    expect(page()).toContain("is a link-local or metadata address");
  });
});

describe("notices of the desktop", () => {
  it("are switched one by one", async () => {
    const setNotice = vi.fn().mockResolvedValue(["group", "model"]);
    const shell = { notices: () => Promise.resolve(["group"]), setNotice };
    await show(DesktopNotices, { shell });
    await flushPromises();
    const switches = [...document.querySelectorAll<HTMLButtonElement>("[role=switch]")];
    expect(switches.map((s) => s.getAttribute("aria-checked"))).toEqual([
      "true",
      "false",
      "false",
      "false",
      "false",
      "false",
      "false",
      "false",
    ]);
    await press("Model gone");
    expect(setNotice).toHaveBeenCalledWith("model", true);
    expect(document.querySelectorAll('[aria-checked="true"]').length).toBe(2);
  });
});
