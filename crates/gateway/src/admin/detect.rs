//! `/upstreams/detect`: what is at a base URL: which models, which protocols, how the credential is sent, how fast.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::{Json, extract::State};
use headgate_domain::{
    Class, Protocol, Secret, UpstreamKind,
    upstream::{Auth, check_base_url, check_proxy},
};
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{ApiError, extract::Body};
use crate::{
    clock::millis,
    ingress,
    outbound::Clients,
    question::Question,
    shared::Shared,
    snapshot::{Endpoint, Trial},
};

/// The longest a question may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Where to look.
#[derive(Deserialize, ToSchema)]
struct DetectBody {
    /// Base URL.
    base_url: String,
    /// The credential; absent: none.
    #[schema(value_type = Option<String>)]
    credential: Option<Secret>,
    /// Proxy; absent: that of the environment.
    proxy: Option<String>,
    /// Allow plain http beyond this machine.
    #[serde(default)]
    allow_plain_http: bool,
    /// The model to ask; absent: a small one of the list.
    model: Option<String>,
}

/// What was found.
#[derive(Serialize, ToSchema)]
struct Detected {
    /// Something answered there.
    reachable: bool,
    /// Models, as listed there.
    models: Vec<String>,
    /// The protocols tried.
    protocols: Vec<Spoken>,
    /// What to configure; absent when nothing answered.
    suggestion: Option<Suggestion>,
    /// Why nothing is suggested.
    error: Option<String>,
}

/// What to configure.
#[derive(Serialize, ToSchema)]
struct Suggestion {
    /// The upstream's `protocol`.
    protocol: UpstreamKind,
    /// Its `auth`, where it is not the default.
    auth: Option<Auth>,
}

/// A protocol that was tried.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct Spoken {
    /// Which.
    protocol: Protocol,
    /// It is spoken there.
    ok: bool,
    /// A whole answer came; else what came only shows that the protocol is known there.
    answered: bool,
    /// HTTP status.
    status: Option<u16>,
    /// Milliseconds to the first output.
    ttft_ms: Option<i64>,
    /// The model asked.
    model: String,
    /// Class of the failure.
    class: Option<Class>,
    /// A sentence about the failure.
    error: Option<String>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(detect))
}

/// Find out what an upstream speaks, before it is saved; this asks it a few very small questions
#[utoipa::path(post, path = "/upstreams/detect", tag = "upstreams", request_body = DetectBody, responses((status = 200, body = Detected)))]
async fn detect(State(shared): State<Arc<Shared>>, Body(body): Body<DetectBody>) -> Result<Json<Detected>, ApiError> {
    check_base_url(&body.base_url, body.allow_plain_http)
        .map_err(|why| ApiError::bad_request(why).with_field("base_url"))?;
    if let Some(proxy) = &body.proxy {
        check_proxy(proxy).map_err(|why| ApiError::bad_request(why).with_field("proxy"))?;
    }
    let credential = match &body.credential {
        None => None,
        Some(secret) => {
            let value = HeaderValue::from_str(secret.expose().trim());
            let wrong = || ApiError::bad_request("the credential has characters no header can carry");
            Some(value.map_err(|_| wrong().with_field("credential"))?)
        }
    };
    let clients = Clients::default();
    let trial = |kind, auth| {
        Trial { base_url: &body.base_url, kind, auth, credential: credential.clone(), proxy: body.proxy.clone() }
            .endpoint(&clients)
    };
    let bearer = trial(UpstreamKind::Passthrough, Some(Auth::Bearer));
    let api_key = trial(UpstreamKind::Passthrough, Some(Auth::XApiKey));
    let (by_bearer, by_key) = tokio::join!(listed(&bearer), listed(&api_key));
    // Where the list tells, the questions need not be asked in both ways.
    let only = match (&by_bearer, &by_key) {
        (Some(_), None) => Some(Auth::Bearer),
        (None, Some(_)) => Some(Auth::XApiKey),
        _ => None,
    };
    let models: Vec<String> = by_bearer.or(by_key).unwrap_or_default().into_iter().collect();
    let ask = async |protocol: Protocol| {
        let usual = if protocol == Protocol::Claude { Auth::XApiKey } else { Auth::Bearer };
        let auth = only.clone().unwrap_or(usual);
        let endpoint = if auth == Auth::Bearer { &bearer } else { &api_key };
        let model = body.model.clone().unwrap_or_else(|| small_model(&models, protocol));
        (try_protocol(&shared, endpoint, protocol, model).await, auth)
    };
    let (claude, chat, responses) = tokio::join!(ask(Protocol::Claude), ask(Protocol::Chat), ask(Protocol::Responses));
    let all = [claude, chat, responses];
    let suggestion = suggest(&all);
    let error = if suggestion.is_some() { None } else { all.iter().find_map(|(s, _)| s.error.clone()) };
    let protocols: Vec<Spoken> = all.into_iter().map(|(spoken, _)| spoken).collect();
    let reachable = !models.is_empty() || protocols.iter().any(|s| s.status.is_some());
    Ok(Json(Detected { reachable, models, protocols, suggestion, error }))
}

async fn listed(endpoint: &Endpoint) -> Option<BTreeSet<String>> {
    tokio::time::timeout(Duration::from_secs(10), ingress::models::fetch(endpoint)).await.ok().flatten()
}

async fn try_protocol(shared: &Shared, endpoint: &Endpoint, protocol: Protocol, model: String) -> Spoken {
    let question = Question { protocol, model: &model, message: "hi", max_tokens: 16, stream: true };
    let credential = endpoint.credentials.values().next();
    let reply = question.ask(shared, endpoint, credential, LIMIT, drop).await;
    let class = reply.result.as_ref().err().map(|f| f.class);
    // A refusal that is about the model, the balance or the rate comes from somebody who understood the question.
    let understood = matches!(
        class,
        None | Some(Class::ModelMissing | Class::RateLimited | Class::Exhausted | Class::Empty | Class::Overloaded)
    );
    Spoken {
        protocol,
        ok: understood,
        answered: class.is_none(),
        status: reply.status,
        ttft_ms: reply.ttft.map(millis),
        class,
        error: reply.result.err().map(|f| f.message.into_owned()),
        model,
    }
}

/// What to configure: the protocol that answers; `passthrough` where all of them do.
fn suggest(all: &[(Spoken, Auth); 3]) -> Option<Suggestion> {
    let good = |(spoken, _): &&(Spoken, Auth)| spoken.ok;
    let answers: Vec<_> = match all.iter().filter(|(s, _)| s.answered).collect::<Vec<_>>() {
        none if none.is_empty() => all.iter().filter(good).collect(),
        some => some,
    };
    let (first, auth) = answers.first()?;
    let (protocol, usual) = match (answers.len(), first.protocol) {
        (3, _) => (UpstreamKind::Passthrough, None),
        (_, Protocol::Claude) => (UpstreamKind::Claude, Some(Auth::XApiKey)),
        (_, Protocol::Chat) => (UpstreamKind::Openai, Some(Auth::Bearer)),
        (_, Protocol::Responses) => (UpstreamKind::OpenaiResponse, Some(Auth::Bearer)),
    };
    let auth = usual.filter(|usual| usual != auth).map(|_| auth.clone());
    Some(Suggestion { protocol, auth })
}

/// A small model of a list, or one that is likely to exist.
fn small_model(models: &[String], protocol: Protocol) -> String {
    const SMALL: [&str; 8] = ["haiku", "nano", "mini", "flash", "lite", "small", "air", "turbo"];
    let (family, likely) = match protocol {
        Protocol::Claude => ("claude", "claude-haiku-4-5"),
        Protocol::Chat | Protocol::Responses => ("gpt", "gpt-5-mini"),
    };
    let unsuitable = |m: &&String| {
        ["embed", "whisper", "tts", "image", "audio", "rerank", "moderation"].iter().any(|w| m.contains(w))
    };
    let usable: Vec<&String> = models.iter().filter(|m| !unsuitable(m)).collect();
    let own: Vec<&String> = usable.iter().copied().filter(|m| m.contains(family)).collect();
    let pool = if own.is_empty() { usable } else { own };
    SMALL
        .iter()
        .find_map(|word| pool.iter().find(|m| m.contains(word)))
        .or_else(|| pool.first())
        .map_or_else(|| likely.to_owned(), |m| (*m).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spoken(protocol: Protocol, ok: bool, answered: bool) -> Spoken {
        let (status, ttft_ms, class, error) = (Some(200), None, None, None);
        Spoken { protocol, ok, answered, status, ttft_ms, model: "m".into(), class, error }
    }

    fn suggested(claude: (bool, bool), chat: (bool, bool), responses: (bool, bool)) -> Option<UpstreamKind> {
        suggest(&[
            (spoken(Protocol::Claude, claude.0, claude.1), Auth::XApiKey),
            (spoken(Protocol::Chat, chat.0, chat.1), Auth::Bearer),
            (spoken(Protocol::Responses, responses.0, responses.1), Auth::Bearer),
        ])
        .map(|s| s.protocol)
    }

    #[test]
    fn what_answers_is_suggested_before_what_only_understands() {
        let (yes, knows, no) = ((true, true), (true, false), (false, false));
        assert_eq!(suggested(yes, yes, yes), Some(UpstreamKind::Passthrough));
        assert_eq!(suggested(yes, no, no), Some(UpstreamKind::Claude));
        assert_eq!(suggested(no, yes, knows), Some(UpstreamKind::Openai));
        assert_eq!(suggested(no, no, knows), Some(UpstreamKind::OpenaiResponse));
        assert_eq!(suggested(no, no, no), None);
    }

    #[test]
    fn a_small_model_of_the_family_is_asked() {
        let list = ["claude-opus-4", "claude-haiku-4", "gpt-5", "gpt-5-mini", "text-embedding-3"].map(String::from);
        assert_eq!(small_model(&list, Protocol::Claude), "claude-haiku-4");
        assert_eq!(small_model(&list, Protocol::Chat), "gpt-5-mini");
        assert_eq!(small_model(&["glm-4-air".to_owned(), "glm-4".to_owned()], Protocol::Chat), "glm-4-air");
        assert_eq!(small_model(&[], Protocol::Claude), "claude-haiku-4-5");
    }
}
