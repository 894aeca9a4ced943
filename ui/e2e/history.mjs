// Stored requests in the past, written past the gateway: what a list looks like after a day, or after a year.
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Runs statements in the gateway's own cluster, as the user it runs as. */
async function sql(world, text) {
  const folder = join(world.data, "run");
  const { uid, gid } = await stat(folder);
  const PGPASSWORD = (await readFile(join(world.data, "postgres-password"), "utf8")).trim();
  const args = ["-h", folder, "-p", "5432", "-U", "headgate", "-d", "headgate", "-v", "ON_ERROR_STOP=1", "-q"];
  await new Promise((resolve, reject) => {
    const psql = spawn("psql", args, {
      uid,
      gid,
      cwd: "/",
      env: { ...process.env, PGPASSWORD },
      stdio: ["pipe", "ignore", "pipe"],
    });
    let complaint = "";
    psql.stderr.on("data", (chunk) => (complaint += chunk));
    psql.on("error", reject);
    psql.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(complaint))));
    psql.stdin.end(text);
  });
}

/** `count` requests of the usual world, spread over the last `hours`; busier by day, a bad half hour, some slow ones. */
export async function history(world, { count, hours = 24 }) {
  const id = async (path, name) => (await world.admin("GET", path)).items.find((item) => item.name === name).id;
  const ids = { group: await id("/groups", "coding"), key: await id("/keys", "laptop") };
  for (const name of ["relay-a", "relay-b", "direct-a"]) ids[name] = await id("/upstreams", name);
  const upstreamId = `case upstream when 'relay-a' then ${ids["relay-a"]} when 'relay-b' then ${ids["relay-b"]} else ${ids["direct-a"]} end`;
  await sql(
    world,
    `set search_path = headgate;
create temporary table made as
  select n, gen_random_uuid() as id,
    now() - make_interval(secs => ${hours} * 3600.0 * power((n + random()) / ${count}.0, 1.15)) as at,
    random() as luck, random() as size
  from generate_series(0, ${count} - 1) n;
create temporary table asked as
  select *, case when n % 7 < 4 then 'relay-a' when n % 7 < 6 then 'relay-b' else 'direct-a' end as upstream,
    case n % 5 when 0 then 'claude-sonnet-5' when 1 then 'claude-opus-5' when 2 then 'claude-haiku-5-5' when 3 then 'gpt-5.5' else 'gpt-5.5-mini' end as model,
    case when luck > 0.997 or (at between now() - interval '9 hours' and now() - interval '8.5 hours' and luck > 0.8) then 'failed'
      when luck > 0.99 then 'canceled' else 'success' end as outcome,
    case when luck between 0.93 and 0.99 then 2 else 1 end as tries,
    (300 + 900 * size * size + 350 * (1 + sin(extract(epoch from at) / 5000)))::bigint as first_ms
  from made;
insert into requests (id, started_at, completed_at, group_id, group_name, key_id, key_name, upstream_id, upstream_name,
    protocol, client, endpoint, model, stream, client_ip, status, outcome, error_kind, error_source, ttft_ms, duration_ms,
    overhead_us, attempt_count, request_bytes, response_bytes, stream_completed, revision, warnings,
    tokens_fresh, tokens_read, tokens_output, usage_source, cost, cost_currency, cost_complete)
  select id, at, at + make_interval(secs => first_ms * 5 / 1000.0), ${ids.group}, 'coding', ${ids.key}, 'laptop', ${upstreamId}, upstream, 'claude',
    case n % 3 when 0 then 'codex' else 'claude-code' end, '/v1/messages', model, true, '127.0.0.1',
    case outcome when 'failed' then 502 else 200 end, outcome, case outcome when 'failed' then 'server' end,
    case outcome when 'failed' then 'upstream' end, case when outcome <> 'failed' then first_ms end, first_ms * 5,
    (180 + 200 * size)::bigint, tries, 20000, 9000, outcome = 'success', 2, '{}',
    (200 + 6000 * size)::bigint, (30000 * luck)::bigint, (60 + 1500 * size)::bigint, 'reported',
    round((3 * (200 + 6000 * size) + 0.3 * 30000 * luck + 15 * (60 + 1500 * size))::numeric / 1000000, 9), 'USD', true
  from asked;
insert into attempts (request_id, number, started_at, attempted_at, completed_at, upstream_id, upstream_name, protocol,
    priority, selection, health_before, health_after, status, outcome, error_kind, error_source, ttft_ms, duration_ms,
    response_bytes, stream, stream_completed, warnings, tokens_fresh, tokens_read, tokens_output, observed_output,
    usage_source, cost, cost_currency)
  select id, try, at, at, at + interval '1 second', case when try < tries then ${ids["relay-b"]} else ${upstreamId} end, case when try < tries then 'relay-b' else upstream end, 'claude', 10,
    case try when 1 then 'initial' else 'failover' end, 'closed', 'closed', 200,
    case when try < tries or outcome = 'failed' then 'failed' else outcome end,
    case when try < tries or outcome = 'failed' then 'server' end, case when try < tries or outcome = 'failed' then 'upstream' end,
    first_ms, first_ms * 5, 9000, true, true, '{}',
    case when try = tries then (200 + 6000 * size)::bigint end, case when try = tries then (30000 * luck)::bigint end,
    case when try = tries then (60 + 1500 * size)::bigint end, case when try = tries then (50 + 1300 * size)::bigint end,
    case when try = tries then 'reported' end,
    case when try = tries then round((3 * (200 + 6000 * size) + 0.3 * 30000 * luck + 15 * (60 + 1500 * size))::numeric / 1000000, 9) end,
    case when try = tries then 'USD' end
  from asked, generate_series(1, tries) try;
insert into rollup_changed (bucket) select distinct bucket(at) from made on conflict do nothing;
analyze requests, attempts;`,
  );
}

/** A day of probes of the monitors there are: every five minutes, one monitor unsteady, one with two bad hours, one that is down. */
export async function probeHistory(world) {
  await sql(
    world,
    `set search_path = headgate;
insert into probes (monitor_id, at, upstream_id, model, class, status, ttft_ms, duration_ms, error_text)
  select id, at, upstream, model, case when ill then 'server' else 'ok' end, case when ill then 503 else 200 end,
    case when not ill then first_ms end, case when ill then 40 else first_ms * 2 end,
    case when ill then 'the upstream answered 503: busy' end
  from (
    select id, upstream, model, at, (250 + 90 * (id % 7) + 200 * random())::bigint as first_ms,
      case id % 4 when 1 then random() > 0.93 when 2 then at between now() - interval '9 hours' and now() - interval '7 hours'
        else random() > 0.998 end as ill
    from jsonb_to_recordset('${JSON.stringify((await world.admin("GET", "/monitors")).items.filter((m) => m.active))}')
        as made (id bigint, upstream bigint, model text),
      generate_series(now() - interval '24 hours', now() - interval '6 minutes', interval '5 minutes') at
  ) asked
  on conflict do nothing;
insert into probes (monitor_id, at, upstream_id, model, class, status, duration_ms, error_text)
  select monitor_id, now(), upstream_id, model, 'slow_first', 200, 30000, 'no output within 30s'
  from probes where model = 'gpt-5.5' order by at desc limit 1;
analyze probes;`,
  );
}

/** Takes the key, or the model or group, from the newest `count` stored requests that have it. */
export async function forget(world, what, count) {
  const columns = { model: ["model"], key: ["key_id", "key_name"], group: ["group_id", "group_name"] }[what];
  await sql(
    world,
    `set search_path = headgate;
with forgotten as (
  update requests set ${columns.map((column) => `${column} = null`).join(", ")}
  where id in (select id from requests where ${columns[0]} is not null and cost is not null order by started_at desc limit ${count})
  returning started_at
)
insert into rollup_changed (bucket) select distinct bucket(started_at) from forgotten on conflict do nothing;`,
  );
}
