//! `/v1/models`: the union over the key's group, in the asker's dialect; upstreams are asked at most once a minute.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use headgate_domain::{Protocol, UpstreamId, UpstreamKind, upstream::Auth};
use headgate_routing::{Explained, Need, Reason, Time, Tried};
use headgate_wire::{envelope::Refusal, models};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Peer, auth, json, refuse};
use crate::{
    forward::{headers::attach, source::Source},
    shared::Shared,
    snapshot::{Endpoint, Key, Snapshot},
};

/// How long a list is kept.
const FRESH: Duration = Duration::from_secs(60);
/// The limit of one fetch.
const FETCH: Duration = Duration::from_secs(10);
/// How long an answer waits for lists.
const PATIENCE: Duration = Duration::from_secs(2);
/// The largest list.
const MAX_LIST: usize = 1 << 20;

/// The model lists of upstreams.
#[derive(Default)]
pub struct ModelLists(Mutex<HashMap<UpstreamId, Entry>>);

impl ModelLists {
    /// The upstream's list, if it was ever fetched.
    pub fn known(&self, upstream: UpstreamId) -> Option<Arc<BTreeSet<String>>> {
        self.0.lock().get(&upstream).and_then(|entry| entry.list.clone())
    }
}

#[derive(Default)]
struct Entry {
    list: Option<Arc<BTreeSet<String>>>,
    fetched: Option<Time>,
    /// A fetch under way; the sender is dropped when it has ended.
    fetching: Option<watch::Receiver<()>>,
}

/// Serves the list, or one model of it.
pub async fn serve<B>(
    shared: &Arc<Shared>,
    snapshot: &Arc<Snapshot>,
    protocol: Protocol,
    peer: Peer,
    request: &Request<B>,
    id: Option<&str>,
) -> Response<Body> {
    let key = match auth::authenticate(shared, snapshot, request.headers(), peer).await {
        Ok(key) => key,
        Err(message) => return refuse::bare(protocol, Refusal::InvalidKey, message),
    };
    let anthropic = protocol == Protocol::Claude;
    let ids = union(shared, &key).await;
    match id {
        None => json(StatusCode::OK, &models::list(&ids, anthropic)),
        Some(id) => match models::one(&ids, id, anthropic) {
            Some(model) => json(StatusCode::OK, &model),
            None => {
                let shown: String = id.chars().take(80).collect();
                refuse::bare(
                    protocol,
                    Refusal::ModelNotFound,
                    &format!("no upstream of this group lists the model '{shown}'"),
                )
            }
        },
    }
}

/// The models a key can ask for: over members that are switched on and allowed, whatever their health.
async fn union(shared: &Arc<Shared>, key: &Key) -> BTreeSet<String> {
    let group = &key.group;
    // The funnel itself says who is switched on and allowed (gates 1 and 2).
    let Explained { reasons, .. } = {
        let mut need = Need::new(Protocol::Chat, "");
        need.key_regions = key.spec.regions.as_deref();
        need.key_labels = key.spec.labels.as_deref();
        let routing = &mut *shared.routing.lock();
        routing.health.explain(&group.pool, &need, &Tried::new(), shared.now(), &mut routing.rng)
    };
    let allowed: Vec<UpstreamId> =
        reasons.iter().filter(|m| !matches!(m.reason, Reason::Disabled | Reason::Policy)).map(|m| m.upstream).collect();
    let members: Vec<_> = group.pool.members.iter().filter(|m| allowed.contains(&m.upstream)).collect();
    let mut ids = group.literal_models(|m| allowed.contains(&m.upstream));
    let endpoints = members.iter().filter_map(|m| group.endpoint(m.upstream));
    let lists = shared.model_lists.get(shared, endpoints).await;
    for member in &members {
        if let Some(list) = lists.get(&member.upstream) {
            ids.extend(list.iter().filter(|name| member.models.resolve(name).is_some()).cloned());
        }
    }
    ids.retain(|name| key.spec.allows_model(name));
    ids
}

impl ModelLists {
    /// The lists of these upstreams, fetched where they are old; one that is late is left out or is the old one.
    async fn get<'e>(
        &self,
        shared: &Arc<Shared>,
        endpoints: impl Iterator<Item = &'e Arc<Endpoint>>,
    ) -> HashMap<UpstreamId, Arc<BTreeSet<String>>> {
        let now = shared.now();
        let mut asked = Vec::new();
        let mut waits = Vec::new();
        {
            let mut all = self.0.lock();
            for endpoint in endpoints {
                asked.push(endpoint.id);
                let entry = all.entry(endpoint.id).or_default();
                if entry.fetched.is_some_and(|at| now.since(at) < FRESH) {
                    continue;
                }
                let running = entry.fetching.as_ref().filter(|r| r.has_changed().is_ok()).cloned();
                waits.push(running.unwrap_or_else(|| {
                    let (done, running) = watch::channel(());
                    entry.fetching = Some(running.clone());
                    let (shared, endpoint) = (Arc::clone(shared), Arc::clone(endpoint));
                    let tasks = shared.tasks.clone();
                    tasks.spawn(async move {
                        let list = tokio::time::timeout(FETCH, fetch(&endpoint)).await.ok().flatten();
                        let now = shared.now();
                        let mut all = shared.model_lists.0.lock();
                        let entry = all.entry(endpoint.id).or_default();
                        if let Some(list) = list {
                            entry.list = Some(Arc::new(list));
                        }
                        // A failure, too, is asked again only after a while: the old list serves until then.
                        entry.fetched = Some(now);
                        drop(done);
                    });
                    running
                }));
            }
        }
        let all_done =
            futures_util::future::join_all(waits.iter_mut().map(|w| async { while w.changed().await.is_ok() {} }));
        let _ = tokio::time::timeout(PATIENCE, all_done).await;
        let all = self.0.lock();
        asked.into_iter().filter_map(|id| Some((id, Arc::clone(all.get(&id)?.list.as_ref()?)))).collect()
    }
}

/// Asks an upstream for its list.
pub async fn fetch(endpoint: &Endpoint) -> Option<BTreeSet<String>> {
    let ways: &[Auth] = match endpoint.kind {
        UpstreamKind::Claude => &[Auth::XApiKey],
        UpstreamKind::Passthrough => &[Auth::Bearer, Auth::XApiKey],
        _ => &[Auth::Bearer],
    };
    let ways = endpoint.auth.as_ref().map_or(ways, std::slice::from_ref);
    let credential = endpoint.credentials.iter().min_by_key(|(id, _)| **id).map(|(_, value)| value);
    for way in ways {
        let mut headers: HeaderMap = endpoint.headers.clone();
        attach(&mut headers, way.clone(), credential);
        if *way == Auth::XApiKey {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = endpoint.url("/v1/models", None).parse().ok()?;
        *request.headers_mut() = headers;
        let response = endpoint.client.call(request).await.ok()?;
        if response.status() == StatusCode::UNAUTHORIZED {
            continue;
        }
        if !response.status().is_success() {
            return None;
        }
        let (parts, body) = response.into_parts();
        let mut source = Source::new(&parts.headers, body);
        let mut whole = BytesMut::new();
        while let Some(chunk) = source.next().await {
            whole.extend_from_slice(&chunk.ok()?);
            if whole.len() > MAX_LIST {
                return None;
            }
        }
        return models::read(&whole);
    }
    None
}
