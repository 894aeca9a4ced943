// A gateway with two fake upstreams behind it and the page in front of it: everything on this machine, in a folder of its own.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile, chmod } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";

const built = (name) => fileURLToPath(new URL(`../../target/debug/${name}`, import.meta.url));
const HEADGATE = process.env.HEADGATE_BIN ?? built("headgate");
const FAKE = process.env.FAKE_UPSTREAM_BIN ?? built("fake-upstream");

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a program and waits until it prints what it is waited for. */
function start(command, args, env, awaited) {
  const child = spawn(command, args, { env: { ...process.env, ...env } });
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk) => {
      output += chunk;
      if (output.includes(awaited)) resolve({ child, output: () => output });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${command} ended with ${code}:\n${output}`)));
  });
}

function stopped({ child }) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once("exit", resolve);
    child.kill("SIGINT");
    setTimeout(() => child.kill("SIGKILL"), 8000).unref();
  });
}

async function fakeUpstream() {
  const port = await freePort();
  const program = await start(FAKE, ["--port", String(port)], {}, "fake upstream on");
  const url = `http://127.0.0.1:${port}`;
  const script = (rules) =>
    fetch(`${url}/__script`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(rules),
    });
  return { url, script, stop: () => stopped(program) };
}

export const KEY = "hg-laptop-0123456789abcdefghij";

/** The configuration of most tests. */
export function usualConfiguration([a, b]) {
  return `version: 1
settings: { breaker_open: 30s }
upstreams:
  - { name: relay-a, base_url: "${a.url}", protocol: claude, credentials: [ { value: sk-fake-relay-a-7Qd1 } ], tags: { main: relay, labels: [cn, cheap] } }
  - { name: relay-b, base_url: "${b.url}", protocol: claude, credentials: [ { value: sk-fake-relay-b-4tXe } ], tags: { main: relay, labels: [cn] } }
  - { name: direct-a, base_url: "${a.url}/v1", credentials: [ { value: sk-fake-direct-1 }, { value: sk-fake-direct-2 } ], tags: { main: direct, labels: [vendor] } }
  - { name: cloud-a, base_url: "${a.url}", protocol: openai-response, credentials: [ { value: sk-fake-cloud-a } ], tags: { main: cloud, labels: [team] } }
  - { name: lan-a, base_url: "http://127.0.0.1:1", protocol: openai, credentials: [ { value: sk-fake-lan } ], tags: { main: own }, enabled: false }
groups:
  - name: coding
    members: [ { upstream: relay-a, priority: 10, weight: 3 }, { upstream: relay-b, priority: 10 }, { upstream: direct-a, priority: 20 }, { upstream: lan-a, priority: 30 } ]
    aliases: { chat-fast: { candidates: [ { upstream: relay-a, model: claude-haiku-5-5 } ], fallback: [ { upstream: direct-a, model: m-small } ] } }
  - { name: chat, members: [ { upstream: cloud-a, priority: 10 }, { upstream: direct-a, priority: 20 } ] }
keys:
  - { name: laptop, group: coding, secret: "${KEY}", budget: { day: 0.005, month: 100 } }
  - { name: team-web, group: chat, secret: "hg-teamweb-0123456789abcdefghij", models: ["gpt-*"], labels: [team, vendor], limits: { concurrency: 16, rpm: 600, tpm: 4000000 } }
  - { name: old-desktop, group: coding, secret: "hg-olddesk-0123456789abcdefghij", enabled: false }
`;
}

export async function startWorld({ configuration = usualConfiguration } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "headgate-ui-"));
  await chmod(folder, 0o755); // the database runs as an unprivileged user
  const data = join(folder, "data");
  const fakes = [await fakeUpstream(), await fakeUpstream()];
  const port = await freePort();
  const args = ["serve", "--data-dir", data, "--listen", `127.0.0.1:${port}`];
  if (configuration) {
    await writeFile(join(folder, "headgate.yaml"), configuration(fakes));
    args.push("--apply", join(folder, "headgate.yaml"));
  }
  const gateway = await start(HEADGATE, args, { HEADGATE_VAULT: "memory" }, "headgate ready on");
  const url = `http://127.0.0.1:${port}`;
  const token = (await readFile(join(data, "admin-token"), "utf8")).trim();
  const page = await serve(url);

  const admin = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}/admin/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    return response.json();
  };
  /** A client's request; resolves to the status. */
  const ask = async ({ model = "claude-haiku-5-5", key = KEY, stream = true } = {}) => {
    const headers = {
      "x-api-key": key,
      "content-type": "application/json",
      "user-agent": "claude-cli/2.1.332 (external, cli)",
    };
    const body = JSON.stringify({ model, max_tokens: 16, stream, messages: [{ role: "user", content: "hi" }] });
    const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
    await response.text().catch(() => undefined);
    return response.status;
  };
  const stop = async () => {
    await page.stop();
    await stopped(gateway);
    await Promise.all(fakes.map((fake) => fake.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  return { url, ui: page.url, token, data, fakes, admin, ask, cut: page.cut, stop };
}

/** The first upstream of a group fails until it is left alone; the second one takes over, and no request fails. */
export async function oneCoolingDown({ admin, ask, fakes: [a, b] }) {
  const group = (await admin("GET", "/groups")).items.find((g) => g.name === "coding");
  const members = ["relay-b", "relay-a", "direct-a", "lan-a"].map((upstream, n) => ({
    upstream,
    priority: 10 * (n + 1),
  }));
  await admin("PATCH", `/groups/${group.id}`, { members, aliases: {}, revision: group.revision });
  await a.script([{ then: { first_event_ms: 420, gap_ms: 10 } }]);
  await b.script([{ then: { status: 503, body: "busy" } }]);
  for (const model of ["claude-sonnet-5", "claude-haiku-5-5", "claude-opus-5"])
    for (let n = 0; n < 3; n += 1) await ask({ model });
}

/** Monitors of several upstreams. They are asked once, as they are made, and then not again for an hour. */
export async function someMonitors({ admin }) {
  const { items } = await admin("GET", "/upstreams");
  const wanted = {
    "relay-a": ["claude-sonnet-5", "claude-haiku-5-5", "claude-opus-5"],
    "relay-b": ["claude-sonnet-5", "claude-haiku-5-5"],
    "direct-a": ["claude-sonnet-5", "gpt-5.5"],
    "cloud-a": ["gpt-5.5-mini"],
    "lan-a": ["qwen3-coder-30b"],
  };
  for (const [name, models] of Object.entries(wanted)) {
    const upstream = items.find((u) => u.name === name).id;
    await admin("POST", "/monitors", { upstream, models, fields: { interval: "1h" } });
  }
  const allAsked = async () => (await admin("GET", "/monitors")).items.every((m) => !m.active || m.strip);
  for (let n = 0; n < 100 && !(await allAsked()); n += 1) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Some traffic of every kind. */
export async function someTraffic({ ask, fakes: [a, b] }) {
  await a.script([{ then: { first_event_ms: 60, gap_ms: 10 } }]);
  await b.script([{ then: { first_event_ms: 120, gap_ms: 10 } }]);
  for (const model of ["claude-sonnet-5", "claude-haiku-5-5", "claude-opus-5"]) {
    await ask({ model });
    await ask({ model, stream: false });
  }
  for (const fake of [a, b]) await fake.script([{ times: 1, then: { status: 503, body: "<b>busy</b>" } }]);
  for (let n = 0; n < 4; n += 1) await ask({ model: "claude-sonnet-5" });
  await a.script([]);
  await b.script([]);
  await ask({ model: "nothing-such" });
}

/** What a relay of the sub2api kind says of itself. */
function billingRules({ balance, multiplier, list, charged }) {
  const counters = { requests: 3, cost: list, actual_cost: charged };
  const usage = { mode: "unrestricted", isValid: true, balance, remaining: balance, unit: "USD" };
  const billing = { object: "sub2api.key_billing", schema_version: 1, billing_scope: "token", timezone: "UTC" };
  const rates = {
    group_rate_multiplier: multiplier,
    resolved_rate_multiplier: multiplier,
    effective_rate_multiplier: multiplier,
  };
  const answer = (path, body) => ({ path, then: { status: 200, body: JSON.stringify(body) } });
  return [
    answer("/v1/usage", { ...usage, usage: { today: counters, total: counters } }),
    answer("/v1/sub2api/billing", { ...billing, ...rates, peak_rate_enabled: false, applied_peak_multiplier: 1 }),
  ];
}

/** Two relays whose billing is read three times, with something done in between: one charges more than it states, the other what it states. */
export async function someBilling({ admin, fakes: [a, b] }, between) {
  const { items } = await admin("GET", "/upstreams");
  const relays = ["relay-a", "relay-b"].map((name) => items.find((u) => u.name === name));
  const readings = [
    [
      { balance: 90, multiplier: 1.2, list: 10, charged: 12 },
      { balance: 41.5, multiplier: 0.7, list: 20, charged: 14 },
    ],
    [
      { balance: 88, multiplier: 1.2, list: 11, charged: 14 },
      { balance: 41.3, multiplier: 0.7, list: 20.3, charged: 14.21 },
    ],
    [
      { balance: 86.2, multiplier: 1.2, list: 12.05, charged: 15.8 },
      { balance: 41.07, multiplier: 0.7, list: 20.6, charged: 14.42 },
    ],
  ];
  for (const [n, [ofA, ofB]] of readings.entries()) {
    await a.script(billingRules(ofA));
    await b.script(billingRules(ofB));
    for (const { id, revision } of relays) {
      if (n === 0) await admin("PATCH", `/upstreams/${id}`, { billing: { kind: "sub2api" }, revision });
      await admin("POST", `/upstreams/${id}/billing/refresh`);
    }
    if (between) {
      await a.script([]);
      await b.script([]);
      await between();
    }
  }
  await a.script([]);
  await b.script([]);
  return relays.map(({ id }) => id);
}

const MULTIPLIER = 0.5;
const QUOTA_OF_A_DOLLAR = 500_000;

/** What a relay of the new-api kind says of itself, with these rows in its log. */
function accountRules(used, rows) {
  const usage = { object: "token_usage", name: "t", total_granted: 5_000_000 + used, total_used: used };
  const status = { quota_per_unit: QUOTA_OF_A_DOLLAR, quota_display_type: "USD" };
  const answer = (path, body) => ({ path, then: { status: 200, body: JSON.stringify(body) } });
  return [
    { path: "/v1/usage", then: { status: 404 } },
    answer("/api/usage/token", {
      code: true,
      data: { ...usage, total_available: 5_000_000, unlimited_quota: false, model_limits: {}, expires_at: 0 },
    }),
    answer("/api/status", { success: true, data: status }),
    answer("/api/log/token", { success: true, data: rows }),
    answer("/api/user/groups", { success: true, data: { vip: { ratio: MULTIPLIER, desc: "" } } }),
  ];
}

/** A relay with a log: of three requests one is charged as stated, one tenfold and one not at all; a fourth charge is somebody else's. */
export async function someCharges({ admin, ask, fakes: [a] }) {
  const model = "gpt-4o";
  const relay = (await admin("GET", "/upstreams")).items.find((u) => u.name === "cloud-a");
  const collect = async (rows) => {
    await a.script(
      accountRules(
        rows.reduce((sum, row) => sum + (row.token_name === "t" ? row.quota : 0), 0),
        rows,
      ),
    );
    const told = await admin("POST", `/upstreams/${relay.id}/billing/refresh`);
    await a.script([]);
    return told;
  };
  await admin("PATCH", `/upstreams/${relay.id}`, { billing: { kind: "newapi" }, revision: relay.revision });
  await collect([]);
  for (let n = 0; n < 3; n += 1) await ask({ model, key: "hg-teamweb-0123456789abcdefghij", stream: false });
  const stored = async () => (await admin("GET", `/requests?upstream=${relay.id}&model=${model}`)).items;
  while ((await stored()).length < 3) await new Promise((resolve) => setTimeout(resolve, 100));
  const row = (request, times, over = {}) => {
    const input = (request.tokens_fresh ?? 0) + (request.tokens_read ?? 0);
    const list = (request.tokens_fresh * 2.5 + (request.tokens_read ?? 0) * 1.25 + request.tokens_output * 10) / 1e6;
    const tokens = { prompt_tokens: input, completion_tokens: request.tokens_output };
    const other = JSON.stringify({ group_ratio: MULTIPLIER, cache_tokens: request.tokens_read ?? 0 });
    const at = Math.floor(Date.parse(request.completed_at) / 1000);
    const quota = list * times * MULTIPLIER * QUOTA_OF_A_DOLLAR;
    const names = { model_name: model, group: "vip", token_name: "t" };
    return { type: 2, created_at: at, quota, use_time: 1, ...tokens, ...names, other, ...over };
  };
  const [, second, first] = await stored();
  const elsewhere = { model_name: "another-model", token_name: "somebody-else" };
  await collect([row(second, 1, elsewhere), row(second, 10), row(first, 1)]);
  return relay.id;
}
