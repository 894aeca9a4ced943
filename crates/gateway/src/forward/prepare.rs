//! A client's request made ready for one candidate: passed on as it is, or translated.

use std::collections::HashMap;

use bytes::Bytes;
use headgate_domain::{UpstreamId, UpstreamKind};
use headgate_wire::{
    loss::{Losses, Rejection},
    profile::Profile,
    splice,
    translate::{Answers, Plan, same},
};

use super::Inbound;
use crate::snapshot::Endpoint;

/// A request ready to be sent to one candidate.
pub struct Prepared {
    /// The body.
    pub body: Bytes,
    /// Present if it was translated.
    pub translation: Option<Translation>,
}

/// What a translated attempt needs besides its body.
pub struct Translation {
    /// For its answer.
    pub answers: Answers,
    /// What was dropped, clamped or repaired.
    pub warnings: Losses,
    /// The value of `anthropic-version`.
    pub anthropic_version: Option<String>,
}

/// Why a candidate cannot take a request.
pub enum Inexpressible {
    /// Its protocol has no way to say it, or the request is not legal.
    Rejected(Rejection),
    /// It could only with losses, which its group forbids.
    Lossy(Losses),
}

/// Candidates that cannot take this request, found out when they were chosen.
pub type Excluded = HashMap<UpstreamId, Inexpressible>;

/// Whether a request of this protocol may be tried on an upstream of this kind.
pub fn may_try(inbound: &Inbound, excluded: &Excluded, upstream: UpstreamId, kind: UpstreamKind) -> bool {
    kind.speaks(inbound.protocol) || !excluded.contains_key(&upstream)
}

/// Makes the request for a candidate, from the client's own bytes.
pub fn prepare(inbound: &Inbound, endpoint: &Endpoint, sent_model: &str) -> Result<Prepared, Inexpressible> {
    if endpoint.kind.speaks(inbound.protocol) {
        return Ok(Prepared { body: as_it_is(inbound, sent_model), translation: None });
    }
    let profile = Profile::resolve(endpoint.kind, endpoint.profile.as_ref(), sent_model);
    let encoded = Plan::new(inbound.protocol, endpoint.kind, &profile)
        .request(&inbound.body, sent_model)
        .map_err(Inexpressible::Rejected)?;
    // What was repaired says the same as before; only what was dropped or clamped is lost.
    let lossy = encoded.warnings.codes().iter().any(|code| !code.starts_with("repaired:"));
    if inbound.group().strict && lossy {
        return Err(Inexpressible::Lossy(encoded.warnings));
    }
    let translation = Translation {
        answers: encoded.answers,
        warnings: encoded.warnings,
        anthropic_version: encoded.anthropic_version,
    };
    Ok(Prepared { body: encoded.body.into(), translation: Some(translation) })
}

/// The client's bytes, but for a mapped model's name, and for reasoning that another upstream has sealed.
fn as_it_is(inbound: &Inbound, sent_model: &str) -> Bytes {
    if let Some(restored) = same::restore(inbound.protocol, &inbound.body, sent_model) {
        return restored.into();
    }
    if sent_model == inbound.asked.model {
        return inbound.body.clone();
    }
    splice::replace(&inbound.body, &inbound.asked.model_span, sent_model)
}
