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
use tokio::sync::broadcast::error::RecvError;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{events::Event, shared::Shared};

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Live events: health, requests, revisions
#[utoipa::path(get, path = "/events", tag = "events", responses((status = 200, body = Event, content_type = "text/event-stream")))]
async fn events(State(shared): State<Arc<Shared>>) -> Sse<impl Stream<Item = Result<Frame, Infallible>>> {
    let watch = shared.events.watch();
    let stopping = shared.stopping.clone();
    let events = stream::unfold((watch, stopping), |(mut watch, stopping)| async move {
        let event = tokio::select! {
            event = watch.recv() => event,
            () = stopping.cancelled() => return None,
        };
        let event = match event {
            Ok(event) => event,
            Err(RecvError::Lagged(missed)) => Event::Lagged { missed },
            Err(RecvError::Closed) => return None,
        };
        let frame = Frame::default().json_data(&event).unwrap_or_default();
        Some((Ok(frame), (watch, stopping)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
