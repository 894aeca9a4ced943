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
    /// The name the upstream was asked for most, where it is another one.
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
    // One row for each upstream and model asked for: that is what requests are looked for by.
    let mut unpriced: Vec<Unpriced> = Vec::new();
    let mut tokens: Vec<TokenCheck> = Vec::new();
    for note in &notes {
        let (missing, model) = (note.charged - note.priced, &note.model);
        let known = unpriced.iter_mut().find(|one| one.upstream_id == note.upstream && one.model == *model);
        match known {
            _ if missing <= 0 => {}
            Some(one) => one.attempts += missing,
            None => unpriced.push(Unpriced {
                upstream_id: note.upstream,
                upstream: name(note.upstream),
                model: model.clone(),
                sent: note.sent.clone().filter(|sent| Some(sent) != model.as_ref()),
                attempts: missing,
            }),
        }
        let known = tokens.iter_mut().find(|one| one.upstream_id == note.upstream && one.model == *model);
        match known {
            _ if note.compared <= 0 => {}
            Some(one) => {
                one.attempts += note.compared;
                one.reported += note.reported_output;
                one.observed += note.observed_output;
                one.ratio = ratio(one.reported, one.observed);
            }
            None => tokens.push(TokenCheck {
                upstream_id: note.upstream,
                upstream: name(note.upstream),
                model: model.clone(),
                attempts: note.compared,
                reported: note.reported_output,
                observed: note.observed_output,
                ratio: ratio(note.reported_output, note.observed_output),
            }),
        }
    }
    Ok((unpriced, tokens))
}
