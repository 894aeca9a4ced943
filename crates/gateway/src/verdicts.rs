//! Whether upstreams charged what they said. A comparison reads every attempt of a week, so it is made when somebody
//! asks, and again only when it is old for what it took.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::UpstreamId;
use headgate_pricing::compare::{Comparison, Counted, Window};
use headgate_store::{Database, DatabaseError};
use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{billing::Evidence, events::Event, shared::Shared};

/// The youngest that is made again.
const FRESH: TimeDelta = TimeDelta::seconds(10);
/// A comparison may take so much of the time: a twentieth.
const SHARE: i32 = 20;
/// How long who asks waits for what is being made.
const PATIENCE: Duration = Duration::from_millis(150);

/// A span of time compared.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WindowView {
    /// `1h`, `24h` or `7d`.
    pub window: &'static str,
    /// What was found.
    pub comparison: Comparison,
}

/// What was found for an upstream.
#[derive(Debug, Clone)]
pub struct Verdict {
    at: DateTime<Utc>,
    took: TimeDelta,
    /// The last hour, day and week.
    pub windows: Vec<WindowView>,
    /// The pairs of readings of that week, the oldest first.
    pub pairs: Arc<[Counted]>,
}

/// The newest verdicts of this process.
#[derive(Default)]
pub struct Verdicts {
    known: Mutex<HashMap<UpstreamId, Verdict>>,
    /// Held by who is making some.
    making: tokio::sync::Mutex<()>,
}

impl Verdicts {
    /// Something it rests on was changed by a person.
    pub fn forget(&self, upstream: UpstreamId) {
        self.known.lock().remove(&upstream);
    }

    fn is_fresh(&self, upstream: UpstreamId, now: DateTime<Utc>) -> bool {
        let known = self.known.lock();
        known.get(&upstream).is_some_and(|verdict| {
            let lasts = verdict.took.checked_mul(SHARE).unwrap_or(FRESH).max(FRESH);
            now - verdict.at < lasts
        })
    }
}

/// Compares an upstream's own figures with our records over the last hour, day and week, and remembers what was found.
pub async fn windows(
    shared: &Shared,
    database: &Database,
    upstream: UpstreamId,
) -> Result<Vec<WindowView>, DatabaseError> {
    let now = shared.clock.wall();
    let spans = [("1h", TimeDelta::hours(1)), ("24h", TimeDelta::hours(24)), ("7d", TimeDelta::days(7))];
    let widest = now - TimeDelta::days(7);
    let evidence = Evidence::read(shared, database, upstream, (widest, now), None).await?;
    let window = |(window, span)| {
        let comparison = evidence.compare(Window { from: now - span, to: now });
        WindowView { window, comparison }
    };
    let windows: Vec<WindowView> = spans.map(window).into();
    let pairs = evidence.counted(Window { from: widest, to: now }).into();
    let verdict = Verdict { at: now, took: shared.clock.wall() - now, windows: windows.clone(), pairs };
    shared.verdicts.known.lock().insert(upstream, verdict);
    Ok(windows)
}

/// The newest verdict of an upstream, however old.
pub fn known(shared: &Shared, upstream: UpstreamId) -> Option<Verdict> {
    shared.verdicts.known.lock().get(&upstream).cloned()
}

/// The verdicts known of these upstreams. Old ones are made again meanwhile; when that takes longer than a moment,
/// watchers are told at its end.
pub async fn newest(shared: &Arc<Shared>, database: &Database, of: &[UpstreamId]) -> HashMap<UpstreamId, Verdict> {
    let now = shared.clock.wall();
    let old: Vec<UpstreamId> = of.iter().copied().filter(|id| !shared.verdicts.is_fresh(*id, now)).collect();
    if !old.is_empty() {
        let (shared, database) = (Arc::clone(shared), database.clone());
        let late = Arc::new(AtomicBool::new(false));
        let is_late = Arc::clone(&late);
        let made = Arc::clone(&shared).tasks.spawn(async move {
            let Ok(_making) = shared.verdicts.making.try_lock() else { return };
            for upstream in old {
                if let Err(why) = windows(&shared, &database, upstream).await {
                    tracing::warn!(upstream.id = upstream.0, error = %why, "charges could not be compared");
                }
            }
            if is_late.load(Ordering::Relaxed) {
                shared.events.send(Event::Compared);
            }
        });
        // It goes on, whether somebody waits or not.
        late.store(tokio::time::timeout(PATIENCE, made).await.is_err(), Ordering::Relaxed);
    }
    let known = shared.verdicts.known.lock();
    of.iter().filter_map(|id| Some((*id, known.get(id)?.clone()))).collect()
}
