//! What applying a file changes: identity, secrets, revisions.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::HashMap;

use headgate_domain::{
    Configuration, Revision, Secret,
    diff::Action,
    file,
    key::KeyHash,
    plan::{self, Inputs, Options, Plan},
};

/// A vault and an id sequence, so that plans can be carried out one after the other.
#[derive(Default)]
struct World {
    current: Configuration,
    revision: i64,
    vault: HashMap<String, Secret>,
    last_id: i64,
}

impl World {
    fn plan(&mut self, text: &str, options: Options) -> Result<Plan, Vec<String>> {
        let file = file::parse(text).map_err(|p| p.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let hash_key = |secret: &Secret| {
            let mut hash = [0; 32];
            for (at, byte) in secret.expose().bytes().enumerate() {
                hash[at % 32] ^= byte.rotate_left(u32::try_from(at / 32).unwrap());
            }
            KeyHash(hash)
        };
        let last = &mut self.last_id;
        let mut ids = || {
            *last += 1;
            *last
        };
        let mut made = 0;
        let mut generate_key = || {
            made += 1;
            Secret::new(format!("hg-generated-generated-{made}"))
        };
        let inputs =
            Inputs { ids: &mut ids, stored: &self.vault, hash_key: &hash_key, generate_key: &mut generate_key };
        plan::plan(&self.current, file, options, inputs, Revision(self.revision + 1))
            .map_err(|p| p.iter().map(ToString::to_string).collect())
    }

    fn apply(&mut self, text: &str) -> Plan {
        let plan = self.plan(text, Options::default()).unwrap_or_else(|p| panic!("{p:#?}"));
        self.vault.extend(plan.secrets.iter().cloned());
        if !plan.changes.is_empty() {
            self.revision += 1;
            // As the database would: only what serialises survives.
            self.current = serde_json::from_value(serde_json::to_value(&plan.next).unwrap()).unwrap();
        }
        plan
    }
}

const BASE: &str = "
version: 1
upstreams:
  - name: relay-a
    base_url: https://relay-a.example
    protocol: claude
    proxy: socks5://me:canary-proxy@127.0.0.1:1080
    headers: { x-vendor: canary-header }
    credentials: [ { value: canary-credential-1 }, { env: RELAY_KEY } ]
groups:
  - name: coding
    members: [ { upstream: RELAY-A, priority: 10, weight: 3 } ]
keys:
  - { name: laptop, group: coding, secret: hg-0123456789012345678901 }
  - { name: desk, group: coding }
alerts:
  - { kind: webhook, url: 'https://hook.example/canary-hook', secret: canary-sign }
";

#[test]
fn applying_an_unchanged_file_changes_nothing() {
    let mut world = World::default();
    let first = world.apply(BASE);
    assert_eq!(first.new_keys.len(), 1, "desk had no secret");
    assert_eq!(first.changes.len(), 5);
    let again = world.apply(BASE);
    assert_eq!(again.changes, vec![]);
    assert!(again.secrets.is_empty() && again.new_keys.is_empty());
    assert_eq!(world.revision, 1);
}

#[test]
fn no_secret_is_in_the_document_the_diff_or_the_export() {
    let mut world = World::default();
    let plan = world.apply(BASE);
    let document = serde_json::to_string(&world.current).unwrap();
    let diff = serde_json::to_string(&plan.changes).unwrap();
    let export = file::export(&world.current);
    for text in [&document, &diff, &export] {
        assert!(!text.contains("canary"), "{text}");
        assert!(!text.contains("hg-0123456789012345678901"), "{text}");
    }
    assert_eq!(world.vault.len(), 5);
}

#[test]
fn an_export_can_be_applied_and_changes_nothing() {
    let mut world = World::default();
    world.apply(BASE);
    let export = file::export(&world.current);
    let plan = world.apply(&export);
    assert_eq!(plan.changes, vec![], "{export}");
}

#[test]
fn another_value_replaces_the_credential_under_a_new_number() {
    let mut world = World::default();
    world.apply(BASE);
    let plan = world.apply(&BASE.replace("canary-credential-1", "canary-credential-2"));
    assert_eq!(plan.changes.len(), 1);
    let upstream = &world.current.upstreams[0];
    let numbers: Vec<u32> = upstream.credentials.iter().map(|c| c.number).collect();
    assert_eq!(numbers, [3, 2]);
    assert_eq!(upstream.revision, Revision(2));
    assert_eq!(world.current.groups[0].revision, Revision(1));
}

#[test]
fn another_header_value_is_a_change_although_only_the_mask_is_seen() {
    let mut world = World::default();
    world.apply(BASE);
    let plan = world.apply(&BASE.replace("canary-header", "canary-header-2"));
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(plan.changes[0].fields[0].path, "headers.x-vendor");
    assert_eq!(world.current.upstreams[0].revision, Revision(2));
}

#[test]
fn what_is_not_listed_stays_unless_pruned() {
    let mut world = World::default();
    world.apply(BASE);
    let less = "version: 1\nupstreams: [ { name: other, base_url: https://o.example } ]\n";
    let plan = world.plan(less, Options::default()).unwrap_or_else(|p| panic!("{p:?}"));
    assert_eq!(plan.changes.len(), 1);
    let plan = world.plan(less, Options { prune: true, allow_recreate: false }).unwrap_or_else(|p| panic!("{p:?}"));
    let deleted = plan.changes.iter().filter(|c| c.action == Action::Delete).count();
    assert_eq!(deleted, 5, "{:#?}", plan.changes);
    assert_eq!(plan.next.upstreams.len(), 1);
}

#[test]
fn a_listed_name_that_was_renamed_is_refused_without_allow_recreate() {
    let mut world = World::default();
    world.apply(BASE);
    world.current.groups[0].name = headgate_domain::Name::new("renamed").unwrap();
    let problems = world.plan(BASE, Options::default()).err().unwrap();
    assert!(problems.iter().any(|p| p.contains("was renamed to 'renamed'")), "{problems:?}");
    // The new group takes the key's place; the old one lives on.
    let plan = world.plan(BASE, Options { prune: false, allow_recreate: true }).unwrap_or_else(|p| panic!("{p:?}"));
    assert_eq!(plan.next.groups.len(), 2);
}

#[test]
fn problems_name_the_path_and_the_remedy() {
    let mut world = World::default();
    let text = "
version: 1
settings: { max_attempts: 100 }
upstreams:
  - { name: a, base_url: 'http://relay.example', limits: { concurrency: 0 } }
  - { name: A, base_url: 'https://169.254.169.254', credentials: [ { vault: a/1 }, { value: '' } ], headers: { host: x, x-a: '***' } }
groups:
  - { name: g, members: [ { upstream: nobody } ] }
  - { name: h, members: [ { upstream: a, weight: 0 } ] }
keys:
  - { name: k, group: g, secret: short }
";
    let problems = world.plan(text, Options::default()).err().unwrap().join("\n");
    for expected in [
        "settings.max_attempts: 100 is not between 1 and 20",
        "upstreams[a].base_url: plain http",
        "upstreams[a].limits",
        "upstreams[A]: is listed twice",
        "169.254.169.254 is a link-local",
        "no credential 'a/1' is stored",
        "upstreams[A].credentials[1]: is empty",
        "'host' may not be set",
        "upstreams[A].headers.x-a: is '***'",
        "names the upstream 'nobody'",
        "groups[h].members[A].weight",
        "keys[k].group: the group 'g' is not configured",
    ] {
        assert!(problems.contains(expected), "missing {expected:?} in\n{problems}");
    }
}

#[test]
fn the_whole_reference_file_is_understood() {
    let text = r#"
version: 1
settings: { max_attempts: 3, request_retention: 7d }
upstreams:
  - name: relay-a
    base_url: https://relay-a.example
    protocol: claude
    auth: x-api-key
    credentials: [ { env: RELAY_A_KEY } ]
    proxy: socks5://127.0.0.1:1080
    allow_plain_http: false
    tags: { main: relay, labels: [cheap, trial] }
    region: cn
    capabilities: [chat, stream, tools, images, documents, structured_output, reasoning]
    max_context: 200000
    limits: { concurrency: 8, rpm: 600, tpm: 2000000 }
    timeouts: { connect: 10s, first_response: 120s, idle: 300s, non_stream: 600s }
    models: { allow: ["claude-*"], map: { claude-sonnet-4-5: vendor-sonnet } }
    headers: { x-vendor: "1" }
    session_header: x-vendor-session
    profile: { base: generic, default_max_tokens: 8192 }
    billing: { kind: sub2api, credit_ratio: 1 }
    enabled: true
  - { name: relay-b, base_url: "https://relay-b.example/v1", auth: { header: x-token } }
groups:
  - name: coding
    strategy: p2c
    balance: { price: 0.25, latency: 0.30, quality: 0.30, load: 0.15 }
    max_multiplier: 1.5
    unknown_multiplier: allow
    regions: [cn]
    require: [tools]
    strict: false
    on_saturation: overflow
    wait: 10s
    queue: { size: 256, wait: 60s }
    budget: { day: 20, month: 300, currency: USD }
    members:
      - { upstream: relay-a, priority: 10, weight: 3 }
      - { upstream: relay-b, priority: 20, enabled: true, min_input: 0, max_input: 22000 }
    aliases:
      chat-fast:
        candidates: [ { upstream: relay-a, model: m-small, weight: 1 } ]
        fallback:   [ { upstream: relay-b, model: n-small } ]
keys:
  - { name: laptop, group: coding, secret: "hg-01234567890123456789", enabled: true, expires_at: null, models: ["*"], regions: [cn], labels: [cheap],
      limits: { concurrency: 16, rpm: 600, tpm: 4000000 }, budget: { day: 5, month: 100, total: 500, currency: USD } }
monitors:
  - { upstream: relay-a, model: claude-haiku, interval: 5m, endpoint: auto, stream: true, message: hi, max_tokens: 16 }
alerts:
  - { kind: webhook, url: "https://hook.example/x", secret: "s", debounce: 60s }
  - { kind: webhook, name: duty, url: "https://bot.example/y", template: dingtalk, events: [group_down, group_back], enabled: false }
"#;
    let mut world = World::default();
    world.apply(text);
    let notes: Vec<_> =
        headgate_domain::configuration::without_effect(&world.current).iter().map(|p| p.path.clone()).collect();
    assert_eq!(notes, ["groups[coding].wait"], "a tier that overflows is not waited for");
    let export = file::export(&world.current);
    assert_eq!(world.apply(&export).changes, vec![], "{export}");
}

#[test]
fn another_address_of_an_alert_target_is_a_change_although_only_the_mask_is_seen() {
    let mut world = World::default();
    world.apply(BASE);
    let plan = world.apply(&BASE.replace("canary-hook", "canary-hook-2"));
    assert_eq!(plan.changes.len(), 1);
    assert_eq!((plan.changes[0].section.as_str(), plan.changes[0].fields[0].path.as_str()), ("alerts", "url"));
    let account = world.current.alerts[0].account("url");
    assert!(world.vault.get(&account).unwrap().expose().ends_with("canary-hook-2"));
}

#[test]
fn an_alert_target_that_cannot_be_told_is_refused_without_its_address() {
    let mut world = World::default();
    let text = "
version: 1
alerts:
  - { kind: webhook, url: 'https://me:canary@hook.example/x', events: [] }
  - { kind: webhook, url: 'http://169.254.169.254/canary', secret: '' }
  - { kind: webhook, url: 'https://hook.example/canary', debounce: 2d }
";
    let problems = world.plan(text, Options::default()).err().unwrap().join("\n");
    for expected in ["alerts[0].url", "alerts[0].events", "alerts[1].url", "alerts[1].secret", "alerts[2].debounce"] {
        assert!(problems.contains(expected), "missing {expected:?} in\n{problems}");
    }
    assert!(!problems.contains("canary"), "{problems}");
}
