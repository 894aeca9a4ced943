//! `/events`: what happens, as it happens.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        Sse,
        sse::{Event as Frame, KeepAlive},
    },
};
use futures_util::{Stream, stream};
use tokio::{
    sync::broadcast::{
        Receiver,
        error::{RecvError, TryRecvError},
    },
    time::Instant,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{events::Event, shared::Shared};

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Bursts begin at most this often: a watcher is drawn once for all of a busy gateway's events of that time.
const REST: Duration = Duration::from_millis(100);

/// Events on their way to a watcher: the first at once, those that follow it closely together.
struct Bursts {
    watch: Receiver<Event>,
    /// When the next burst may begin.
    rested: Instant,
}

impl Bursts {
    /// The next event; none when there will be none.
    async fn next(&mut self) -> Option<Event> {
        let event = match self.watch.try_recv() {
            Err(TryRecvError::Empty) => {
                tokio::time::sleep_until(self.rested).await;
                let event = self.watch.recv().await;
                self.rested = Instant::now() + REST;
                event
            }
            Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Ok(event) => Ok(event),
        };
        match event {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(Event::Lagged { missed }),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Live events: health, requests, revisions
#[utoipa::path(get, path = "/events", tag = "events", responses((status = 200, body = Event, content_type = "text/event-stream")))]
async fn events(State(shared): State<Arc<Shared>>) -> Sse<impl Stream<Item = Result<Frame, Infallible>>> {
    let bursts = Bursts { watch: shared.events.watch(), rested: Instant::now() };
    let events = stream::unfold((bursts, shared.stopping.clone()), |(mut bursts, stopping)| async move {
        let event = tokio::select! {
            event = bursts.next() => event?,
            () = stopping.cancelled() => return None,
        };
        let frame = Frame::default().json_data(&event).unwrap_or_default();
        Some((Ok(frame), (bursts, stopping)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

#[cfg(test)]
mod tests {
    use headgate_domain::Revision;

    use super::*;
    use crate::events::Events;

    #[tokio::test]
    async fn the_first_event_comes_at_once_and_those_close_behind_it_together() {
        let events = Events::default();
        let start = Instant::now();
        let mut bursts = Bursts { watch: events.watch(), rested: start };
        let sending = async {
            for n in 0..100 {
                events.send(Event::Revision { revision: Revision(n) });
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let receiving = async {
            let mut begun = vec![bursts.rested];
            for n in 0..100 {
                let event = bursts.next().await;
                assert!(matches!(event, Some(Event::Revision { revision }) if revision.0 == n), "{n}: {event:?}");
                begun.push(bursts.rested);
            }
            begun.dedup();
            begun
        };
        let ((), begun) = tokio::join!(sending, receiving);
        assert!(begun.windows(2).all(|two| two[1] - two[0] >= REST), "bursts are apart");
        let (first, all) = (begun[1] - REST - start, begun.len() - 1);
        assert!(first < REST, "the first waited: {first:?}");
        assert!(all as u128 <= start.elapsed().as_millis() / REST.as_millis() + 1, "{all} bursts");
    }
}
