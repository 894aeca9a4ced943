import { flushPromises } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import { Refusal, serveApi, show } from "@/testing/mount";
import { list, upstream } from "@/testing/samples";
import UpstreamSheet from "./UpstreamSheet.vue";

const quiet = {
  "GET /groups": list([{ id: 12, name: "coding" }]),
  "GET /tags": list([]),
  "GET /upstreams/2/models": { models: ["claude-haiku-5-5"] },
  "GET /upstreams": list([]),
};

async function open(answers: Record<string, unknown>, shown = upstream()) {
  const calls = serveApi({ ...quiet, ...answers });
  await show(UpstreamSheet, { upstream: shown, upstreams: [shown], at: Date.now() });
  await flushPromises();
  const field = (label: string) => {
    const named = [...document.querySelectorAll("label")].find((l) => l.textContent?.trim() === label);
    return document.getElementById(named?.htmlFor ?? "") as HTMLInputElement;
  };
  const type = async (label: string, text: string) => {
    field(label).value = text;
    field(label).dispatchEvent(new Event("input"));
    await flushPromises();
  };
  const save = async () => {
    document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await flushPromises();
    await flushPromises();
  };
  return { calls, field, type, save };
}

describe("the sheet of an upstream", () => {
  it("shows the last four characters of a stored key and has no way to more", async () => {
    await open({});
    expect(document.body.textContent).toContain("••••••••7Qd1");
    expect(document.body.innerHTML).not.toContain("relay-a/1");
  });

  it("sends only what was changed, with the revision it was made from", async () => {
    const { calls, type, save } = await open({ "PATCH /upstreams/2": { id: 2, revision: 8 } });
    await type("Region", "cn");
    await save();
    expect(calls.find((c) => c.method === "PATCH")?.body).toEqual({ region: "cn", revision: 7 });
  });

  it("checks in place, with a sentence, before anything is sent", async () => {
    const { calls, type, save } = await open({});
    await type("Name", "x".repeat(10_240));
    await type("Address", "ftp://relay-a.example");
    await save();
    expect(calls.some((c) => c.method === "PATCH")).toBe(false);
    expect(document.body.textContent).toContain("At most 64 characters");
    expect(document.body.textContent).toContain("An address begins with http://");
  });

  it("puts a refusal of the gateway beside its field, and takes it away when that is changed", async () => {
    const refuse = () => {
      const message = "it leads back to this gateway <img src=x onerror=alert(1)>";
      const problems = [{ path: "upstreams[relay-a].base_url", message }];
      throw new Refusal(422, { code: "invalid", message: "no", field: problems[0]?.path, problems });
    };
    const { field, type, save } = await open({ "PATCH /upstreams/2": refuse });
    await type("Address", "https://127.0.0.1:8642");
    await save();
    expect(field("Address").getAttribute("aria-invalid")).toBe("true");
    expect(document.body.textContent).toContain("it leads back to this gateway <img");
    expect(document.querySelector("img")).toBeNull();
    await type("Address", "https://other.example");
    expect(document.body.textContent).not.toContain("it leads back");
  });

  it("shows somebody else's change and can be saved over it", async () => {
    let tries = 0;
    const answer = (body: unknown) => {
      tries += 1;
      if (tries > 1) return { id: 2, revision: 10 };
      expect(body).toMatchObject({ revision: 7 });
      throw new Refusal(409, {
        code: "revision_conflict",
        message: "changed",
        current: { id: 2, revision: 9, object: {} },
      });
    };
    const fields = [{ path: "proxy", before: null, after: "direct" }];
    const { calls, type, save } = await open({
      "PATCH /upstreams/2": answer,
      "GET /revisions/9/diff": {
        from: 8,
        to: 9,
        changes: [{ section: "upstreams", name: "relay-a", action: "update", fields }],
      },
    });
    await type("Region", "eu");
    await save();
    await flushPromises();
    expect(document.body.textContent).toContain("Changed by somebody else meanwhile");
    expect(document.body.textContent).toContain("proxy: direct");
    await save();
    expect(calls.filter((c) => c.method === "PATCH").at(-1)?.body).toEqual({ region: "eu", revision: 9 });
  });

  it("says why an upstream is out and what brings it back", async () => {
    await open({}, upstream({ condition: { state: "down", class: "credential", credentials_missing: false } }));
    expect(document.body.textContent).toContain("Key rejected");
    expect(document.body.textContent).toContain("Replace the key");
  });
});
