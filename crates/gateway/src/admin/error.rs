//! One error shape for the whole API: `{"error":{"code","message","field"?,"problems"?,"current"?,"request_id"}}`.

use axum::{
    Json,
    extract::{
        FromRequest, FromRequestParts, rejection::JsonRejection, rejection::PathRejection, rejection::QueryRejection,
    },
    response::{IntoResponse, Response},
};
use headgate_domain::file::Problem;
use headgate_store::{DatabaseError, requests::ListError};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::control::ControlError;

/// An error answer.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable machine code.
    code: &'static str,
    /// A sentence with cause and remedy.
    message: String,
    /// The field it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// Everything that is wrong with a configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
    /// The object as it is now (`revision_conflict`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    current: Option<serde_json::Value>,
    /// To find this in the log.
    request_id: uuid::Uuid,
}

/// An error of the admin API.
#[derive(Debug)]
pub struct ApiError(StatusCode, ErrorDetail);

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let detail = ErrorDetail {
            code,
            message: message.into(),
            field: None,
            problems: Vec::new(),
            current: None,
            request_id: uuid::Uuid::now_v7(),
        };
        Self(status, detail)
    }

    /// There is no such thing.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no such {what}"))
    }

    /// The route exists, the method does not.
    pub fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this route does not take this method")
    }

    /// No or a wrong admin token.
    pub fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "send 'authorization: Bearer <admin token>'; it is in the file admin-token of the data directory",
        )
    }

    /// The token shown for a session is not the admin token.
    pub fn wrong_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "wrong_token", "this is not the admin token").with_field("token")
    }

    /// Our own fault.
    pub fn internal(message: &str) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    /// Not from there.
    pub fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// A parameter or body that cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// About one field.
    pub fn with_field(mut self, field: &str) -> Self {
        self.1.field = Some(field.to_owned());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if self.0.is_server_error() {
            tracing::error!(request.id = %self.1.request_id, error = %self.1.message, "an admin request failed");
        }
        (self.0, Json(ErrorBody { error: self.1 })).into_response()
    }
}

impl From<ControlError> for ApiError {
    fn from(why: ControlError) -> Self {
        let message = why.to_string();
        match why {
            ControlError::Invalid(problems) => {
                let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
                error.1.field = problems.first().map(|p| p.path.clone()).filter(|p| !p.is_empty());
                error.1.problems = problems;
                error
            }
            ControlError::Conflict { .. } => Self::new(StatusCode::CONFLICT, "revision_conflict", message),
            ControlError::ObjectConflict(current) => {
                let mut error = Self::new(StatusCode::CONFLICT, "revision_conflict", message);
                error.1.current = Some(current);
                error
            }
            ControlError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", message),
            ControlError::Vault(_) => Self::new(StatusCode::CONFLICT, "vault_unavailable", message),
            ControlError::Database(_) | ControlError::NoDatabase => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable", message)
            }
            ControlError::Random => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message),
        }
    }
}

impl From<DatabaseError> for ApiError {
    fn from(why: DatabaseError) -> Self {
        ControlError::Database(why).into()
    }
}

impl From<ListError> for ApiError {
    fn from(why: ListError) -> Self {
        match why {
            ListError::Filter(why) => Self::bad_request(why.to_string()),
            ListError::Database(why) => why.into(),
        }
    }
}

/// JSON, query and path whose rejections have the API's error shape.
pub mod extract {
    use super::*;

    /// A JSON body.
    #[derive(FromRequest)]
    #[from_request(via(Json), rejection(ApiError))]
    pub struct Body<T>(pub T);

    /// A query string.
    #[derive(FromRequestParts)]
    #[from_request(via(axum::extract::Query), rejection(ApiError))]
    pub struct Query<T>(pub T);

    /// Path parameters.
    #[derive(FromRequestParts)]
    #[from_request(via(axum::extract::Path), rejection(ApiError))]
    pub struct Path<T>(pub T);
}

impl From<JsonRejection> for ApiError {
    fn from(why: JsonRejection) -> Self {
        Self::bad_request(why.body_text())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(why: QueryRejection) -> Self {
        Self::bad_request(why.body_text())
    }
}

impl From<PathRejection> for ApiError {
    fn from(why: PathRejection) -> Self {
        Self::bad_request(why.body_text())
    }
}
