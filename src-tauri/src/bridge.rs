//! The pages' way to the admin API: method, path and body in, the answer out; no socket, no token, no logic.

use std::{collections::HashMap, sync::Arc};

use axum::body::Body;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{Method, Request, Uri, header};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tauri::{State, ipc::Channel};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::engine::{Engine, Running};

/// The only paths there are for the pages.
const ROOT: &str = "/admin/v1/";

/// What is ready is handed over together up to about this many bytes.
const PART: usize = 256 << 10;

/// A request of the pages.
#[derive(Deserialize)]
pub struct AdminRequest {
    method: String,
    /// Begins with `/admin/v1/`; with its query.
    path: String,
    body: Option<String>,
    /// Absent: JSON.
    content_type: Option<String>,
}

/// A part of its answer, in this order: one head, any number of chunks, one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Status and content type.
    Head {
        /// HTTP status.
        status: u16,
        /// Content type.
        content_type: String,
    },
    /// A piece of the body.
    Chunk {
        /// Its text; characters are whole.
        text: String,
    },
    /// It is over.
    End,
}

/// Answers that go on, by the number the page gave them.
#[derive(Default)]
pub struct Streams(Mutex<HashMap<u32, CancellationToken>>);

impl Streams {
    /// Ends all of them: the page is gone.
    pub fn stop_all(&self) {
        self.0.lock().drain().for_each(|(_, stop)| stop.cancel());
    }
}

/// Why there is no answer: the page shows the state of the shell instead.
const NOT_RUNNING: &str = "the gateway does not run";

impl AdminRequest {
    fn build(self) -> Result<Request<Body>, String> {
        let uri: Uri = self.path.parse().map_err(|_| "this is no path".to_owned())?;
        let odd = uri.authority().is_some() || uri.path().contains("..") || uri.path().contains("//");
        if !uri.path().starts_with(ROOT) || odd {
            return Err(format!("only paths under {ROOT} are served"));
        }
        let method = Method::from_bytes(self.method.as_bytes()).map_err(|_| "this is no method".to_owned())?;
        let mut request = Request::new(self.body.map_or_else(Body::empty, Body::from));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let kind = self.content_type.as_deref().unwrap_or("application/json");
        let kind = http::HeaderValue::from_str(kind).map_err(|_| "this is no content type".to_owned())?;
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(request)
    }

    /// Sends it; gives status, content type and the body to come.
    pub async fn send(self, running: &Running) -> Result<(u16, String, Body), String> {
        let response = match running.admin.clone().oneshot(self.build()?).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        Ok((response.status().as_u16(), kind.to_owned(), response.into_body()))
    }

    /// A request to read something.
    pub fn get(path: String) -> Self {
        Self { method: "GET".to_owned(), path, body: None, content_type: None }
    }
}

/// Sends a request to the admin API; its answer comes through the channel, piece by piece as it is made.
#[tauri::command]
pub async fn admin_request(
    engine: State<'_, Arc<Engine>>,
    streams: State<'_, Streams>,
    id: u32,
    request: AdminRequest,
    channel: Channel<Part>,
) -> Result<(), String> {
    let running = engine.running().ok_or(NOT_RUNNING)?;
    let stop = CancellationToken::new();
    streams.0.lock().insert(id, stop.clone());
    let (done, result) = tokio::sync::oneshot::channel();
    // On the gateway's runtime: its timers and connections live there.
    engine.spawn(async move {
        let work = async {
            let (status, content_type, body) = request.send(&running).await?;
            // An answer that goes on must not keep a gateway that stops.
            drop(running);
            relay(status, content_type, body, |part| channel.send(part).is_ok()).await;
            Ok::<_, String>(())
        };
        let answered = tokio::select! {
            answered = work => answered,
            () = stop.cancelled() => Ok(()),
        };
        // The page that asked may be gone.
        let _ = done.send(answered);
    });
    let answered = result.await;
    streams.0.lock().remove(&id);
    answered.map_err(|_| "the gateway stopped".to_owned())?
}

/// Gives up an answer.
#[tauri::command]
pub fn admin_stop(streams: State<'_, Streams>, id: u32) {
    if let Some(stop) = streams.0.lock().remove(&id) {
        stop.cancel();
    }
}

/// Hands an answer over, until `send` finds nobody there.
async fn relay(status: u16, content_type: String, body: Body, send: impl Fn(Part) -> bool) {
    if !send(Part::Head { status, content_type }) {
        return;
    }
    let mut chunks = body.into_data_stream();
    let mut pending = Vec::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        pending.extend_from_slice(&chunk);
        // What is there already goes along: each part runs a script in the page.
        while pending.len() < PART
            && let Some(Some(Ok(more))) = chunks.next().now_or_never()
        {
            pending.extend_from_slice(&more);
        }
        let text = whole_characters(&mut pending);
        if !text.is_empty() && !send(Part::Chunk { text }) {
            return;
        }
    }
    send(Part::End);
}

/// Takes what is complete: a chunk may end within a character.
fn whole_characters(pending: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(pending) {
        Ok(text) => text.len(),
        Err(why) if why.error_len().is_none() => why.valid_up_to(),
        // The admin API writes text; anything else is shown as well as it can be.
        Err(_) => pending.len(),
    };
    String::from_utf8_lossy(&pending.drain(..whole).collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str) -> Result<Request<Body>, String> {
        AdminRequest { method: "GET".to_owned(), path: path.to_owned(), body: None, content_type: None }.build()
    }

    #[test]
    fn only_the_admin_api_can_be_asked() {
        assert!(asked("/admin/v1/status").is_ok() && asked("/admin/v1/requests?q=a%20b").is_ok());
        for odd in [
            "/v1/messages",
            "/admin/v1",
            "/admin/v2/status",
            "/admin/v1/../../v1/models",
            "http://example.com/admin/v1/status",
            "//example.com/admin/v1/status",
            "/admin/v1//status",
            "",
            "\0",
        ] {
            assert!(asked(odd).is_err(), "{odd}");
        }
    }

    #[tokio::test]
    async fn an_answer_is_handed_over_in_parts_of_whole_characters() {
        let pieces = futures_util::stream::iter("网关".as_bytes()).then(|byte| async move {
            // It comes a moment later.
            tokio::task::yield_now().await;
            Ok::<_, std::io::Error>(vec![*byte])
        });
        assert_eq!(parts_of(pieces).await, [chunk("网"), chunk("关")]);
    }

    #[tokio::test]
    async fn what_is_ready_is_handed_over_together() {
        let pieces = futures_util::stream::iter("网关, ready".as_bytes()).map(|byte| Ok(vec![*byte]));
        assert_eq!(parts_of(pieces).await, [chunk("网关, ready")]);
        let large = futures_util::stream::iter([PART, 1]).map(|size| Ok(vec![b'x'; size]));
        assert_eq!(parts_of(large).await, [chunk(&"x".repeat(PART)), chunk("x")]);
    }

    fn chunk(text: &str) -> Part {
        Part::Chunk { text: text.to_owned() }
    }

    /// The parts of a body, between the head and the end.
    async fn parts_of(
        pieces: impl futures_util::Stream<Item = Result<Vec<u8>, std::io::Error>> + Send + 'static,
    ) -> Vec<Part> {
        let parts = Mutex::new(Vec::new());
        relay(200, "text/plain".to_owned(), Body::from_stream(pieces), |part| {
            parts.lock().push(part);
            true
        })
        .await;
        let mut parts = parts.into_inner();
        assert_eq!(parts.remove(0), Part::Head { status: 200, content_type: "text/plain".to_owned() });
        assert_eq!(parts.pop(), Some(Part::End));
        parts
    }

    #[tokio::test]
    async fn nobody_there_ends_it() {
        let body = Body::from_stream(futures_util::stream::repeat(()).map(|()| Ok::<_, std::io::Error>("x")));
        relay(200, String::new(), body, |part| matches!(part, Part::Head { .. })).await;
    }
}
