//! `/session`: a browser exchanges the admin token for one of its own that ends by itself.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use headgate_domain::Secret;
use headgate_routing::Time;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::error::{ApiError, extract::Body};
use crate::{ingress::auth::random_token, shared::Shared};

/// How long a session lasts.
const LIFE: Duration = Duration::from_secs(12 * 3600);
/// Sessions at the same time; the one that ends first makes room.
const MAX: usize = 64;

/// Sessions that are open, by the hash of their token.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<[u8; 32], Time>>);

impl Sessions {
    fn open(&self, token: &str, now: Time) {
        let mut sessions = self.0.lock();
        sessions.retain(|_, until| *until > now);
        if sessions.len() >= MAX
            && let Some(first) = sessions.iter().min_by_key(|(_, until)| **until).map(|(hash, _)| *hash)
        {
            sessions.remove(&first);
        }
        sessions.insert(Sha256::digest(token).into(), now + LIFE);
    }

    /// Whether a token is that of an open session.
    pub fn admit(&self, token: &str, now: Time) -> bool {
        let hash: [u8; 32] = Sha256::digest(token).into();
        self.0.lock().get(&hash).is_some_and(|until| *until > now)
    }
}

/// The admin token.
#[derive(Deserialize, ToSchema)]
struct SignIn {
    /// What the file admin-token of the data directory holds.
    #[schema(value_type = String)]
    token: Secret,
}

/// A session.
#[derive(Serialize, ToSchema)]
struct SessionView {
    /// To be sent as `authorization: Bearer`.
    token: String,
    /// When it ends.
    expires_at: DateTime<Utc>,
}

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(sign_in))
}

/// Exchange the admin token for a session's
///
/// The only route that needs no token.
#[utoipa::path(post, path = "/session", tag = "session", request_body = SignIn, responses((status = 200, body = SessionView)))]
async fn sign_in(State(shared): State<Arc<Shared>>, Body(body): Body<SignIn>) -> Result<Json<SessionView>, ApiError> {
    let shown = body.token.expose().trim();
    if !bool::from(shown.as_bytes().ct_eq(shared.admin_token.expose().as_bytes())) {
        tokio::time::sleep(Duration::from_millis(500)).await;
        return Err(ApiError::wrong_token());
    }
    let token = random_token("hs-").map_err(|_| ApiError::internal("the system gave no random numbers"))?;
    shared.sessions.open(token.expose(), shared.now());
    Ok(Json(SessionView { token: token.expose().to_owned(), expires_at: shared.clock.wall() + LIFE }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_by_itself_and_their_number_is_bounded() {
        let sessions = Sessions::default();
        let start = Time::default();
        sessions.open("hs-first", start);
        assert!(sessions.admit("hs-first", start) && !sessions.admit("hs-other", start));
        assert!(!sessions.admit("hs-first", start + LIFE));
        for n in 0..MAX {
            sessions.open(&format!("hs-{n}"), start + Duration::from_secs(1));
        }
        assert!(!sessions.admit("hs-first", start) && sessions.admit("hs-0", start));
        assert_eq!(sessions.0.lock().len(), MAX);
    }
}
