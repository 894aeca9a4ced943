//! What is odd about spending: calls without a full price, and tokens that were reported but did not pass.

use chrono::{DateTime, Utc};
use headgate_domain::{Configuration, UpstreamId};
use headgate_store::{Database, DatabaseError, costs::Dimension};
use serde::Serialize;
use utoipa::ToSchema;

use super::spend::names;

/// A model of an upstream without a full price.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Unpriced {
    /// The upstream.
    upstream_id: UpstreamId,
    /// Its name.
    upstream: Option<String>,
    /// The model asked for.
    model: Option<String>,
    /// The name the upstream was asked for, where it is another one.
    sent: Option<String>,
    /// Attempts that may have been charged for and are not priced in full.
    attempts: i64,
}

/// Output that an upstream reported against what passed through.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct TokenCheck {
    /// The upstream.
    upstream_id: UpstreamId,
    /// Its name.
    upstream: Option<String>,
    /// The model asked for.
    model: Option<String>,
    /// Attempts of which both are known.
    attempts: i64,
    /// Output tokens reported.
    reported: i64,
    /// Output tokens estimated by what passed through.
    observed: i64,
    /// Reported ÷ observed; absent where nothing passed.
    ratio: Option<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What has no full price, and what upstreams reported against what passed through.
pub(super) async fn notes(
    database: &Database,
    configuration: &Configuration,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<(Vec<Unpriced>, Vec<TokenCheck>), DatabaseError> {
    let notes = database.spend_notes(from, to).await?;
    let names = names(database, configuration, Dimension::Upstream, notes.iter().map(|note| note.upstream.0)).await?;
    let name = |id: UpstreamId| names.get(&id.0).map(|(name, _)| name.clone());
    let unpriced = notes.iter().filter(|note| note.priced < note.charged).map(|note| Unpriced {
        upstream_id: note.upstream,
        upstream: name(note.upstream),
        model: note.model.clone(),
        sent: note.sent.clone().filter(|sent| Some(sent) != note.model.as_ref()),
        attempts: note.charged - note.priced,
    });
    let tokens = notes.iter().filter(|note| note.compared > 0).map(|note| TokenCheck {
        upstream_id: note.upstream,
        upstream: name(note.upstream),
        model: note.model.clone(),
        attempts: note.compared,
        reported: note.reported_output,
        observed: note.observed_output,
        ratio: ratio(note.reported_output, note.observed_output),
    });
    Ok((unpriced.collect(), tokens.collect()))
}
