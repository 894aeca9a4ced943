import { flushPromises } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import { Refusal, serveApi, show } from "@/testing/mount";
import { account, list, upstream } from "@/testing/samples";
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

describe("what an upstream charges", () => {
  const stated = account({
    state: "ok",
    multiplier: "2",
    remaining: "3.5",
    currency: "USD",
    collected_at: new Date().toISOString(),
    spent_day: "1.25",
    verdict: "warning",
    reason: "charged_exceeded",
    excess: "0.04",
    concerns: [{ kind: "over_cap", group: 12 }, { kind: "billing_warning" }],
  });
  const press = async (name: string) => {
    [...document.querySelectorAll("button")].find((b) => b.textContent?.trim() === name)?.click();
    await flushPromises();
    await flushPromises();
  };

  it("is told with its doubt, its cap and where the multiplier is from", async () => {
    const groups = list([{ id: 12, name: "coding", max_multiplier: "1.5" }]);
    await open({ "GET /groups": groups }, upstream({ account: stated }));
    const text = document.body.textContent ?? "";
    for (const part of ["in doubt", "More was charged", "$3.50", "×2", "as it states", "coding allows ×1.5"]) {
      expect(text).toContain(part);
    }
  });

  it("is asked for now, and its multiplier is set by hand and taken back", async () => {
    const told = { ...stated, manual: true };
    const { calls } = await open(
      {
        "POST /upstreams/2/billing/refresh": stated,
        "PUT /upstreams/2/billing/multiplier": told,
        "DELETE /upstreams/2/billing/multiplier": stated,
      },
      upstream({ account: told }),
    );
    await press("Collect now");
    expect(calls.some((c) => c.method === "POST")).toBe(true);
    await press("Set multiplier by hand");
    const input = document.querySelector<HTMLInputElement>("input[aria-label='Multiplier']");
    if (input) input.value = "1.8";
    input?.dispatchEvent(new Event("input"));
    await flushPromises();
    input?.closest("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await flushPromises();
    await flushPromises();
    expect(calls.find((c) => c.method === "PUT")?.body).toEqual({ multiplier: "1.8" });
    await press("Take back");
    expect(calls.some((c) => c.method === "DELETE")).toBe(true);
  });

  it("is configured with API, interval and access token", async () => {
    const known = upstream({ billing: { kind: "newapi", access_token: "***", user_id: 7 } } as never);
    const { calls, type, save } = await open({ "PATCH /upstreams/2": { id: 2, revision: 8 } }, known);
    await type("Ask every", "20m");
    await type("Low below", "5");
    await save();
    expect(calls.find((c) => c.method === "PATCH")?.body).toEqual({
      billing: { interval: "20m", low_balance: "5" },
      revision: 7,
    });
  });
});
