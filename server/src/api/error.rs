//! Errors in OpenAI's format.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::engine::Cut;

/// An error, sent to the client in place of an answer.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    message: String,
    kind: &'static str,
    /// Name of the field that is wrong, if the error is about a field.
    param: Option<String>,
    code: Option<&'static str>,
    /// Number of seconds after which the client may retry.
    retry_after: Option<u32>,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message, kind, param: None, code: None, retry_after: None }
    }

    /// Returns an error for an invalid request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// Returns an error for an invalid field.
    pub(crate) fn field(name: &str, message: impl Into<String>) -> Self {
        Self { param: Some(name.to_owned()), ..Self::invalid(message) }
    }

    /// Returns an error for a field that OpenAI supports and this server doesn't.
    pub(crate) fn unsupported(name: &str, why: &str) -> Self {
        let error = Self::field(name, format!("{name:?} is not supported: {why}"));
        Self { code: Some("unsupported_parameter"), ..error }
    }

    /// Returns an error for an unknown field.
    pub(crate) fn unknown(name: &str) -> Self {
        let error = Self::field(name, format!("{name:?} is not a parameter of this server"));
        Self { code: Some("unknown_parameter"), ..error }
    }

    /// Returns this error with another status and code.
    pub(crate) fn with(self, status: StatusCode, code: &'static str) -> Self {
        Self { status, code: Some(code), ..self }
    }

    /// Returns an error for a missing or wrong key.
    pub(crate) fn unauthorized() -> Self {
        let message = "expected the server's key, as `Authorization: Bearer KEY`";
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", message)
            .with(StatusCode::UNAUTHORIZED, "invalid_api_key")
    }

    /// Returns an error for a full queue.
    pub(crate) fn full(message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", message);
        Self { code: Some("queue_full"), retry_after: Some(1), ..error }
    }

    /// Returns the error for a request that arrives during shutdown, or is cut off by it.
    pub(crate) fn ending() -> Self {
        let message = "the server is shutting down";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", message);
        Self { code: Some("shutting_down"), retry_after: Some(5), ..error }
    }

    /// Returns an error for a failed engine.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message);
        Self { code: Some("engine_failed"), ..error }
    }

    /// Returns an error for an answer that was cut off midway.
    pub(crate) fn of_cut(cut: Option<&Cut>) -> Self {
        match cut {
            Some(Cut::Refused(message)) => Self::invalid(message.clone()),
            Some(Cut::Slow) => {
                Self::invalid("the answer was cut off because the client read it too slowly")
                    .with(StatusCode::REQUEST_TIMEOUT, "too_slow")
            }
            Some(Cut::Ending) => Self::ending(),
            Some(Cut::NotFinite) => {
                let message = "the model's logits for this text are NaN or infinite, so there is \
                               no next token; other requests are not affected";
                Self::failed(message).with(StatusCode::INTERNAL_SERVER_ERROR, "not_finite")
            }
            Some(Cut::Failed(message)) => Self::failed(message.clone()),
            None => Self::failed("the engine stopped before the answer was complete"),
        }
    }

    /// Returns the response body.
    pub(crate) fn json(&self) -> Value {
        let Self { message, kind, param, code, .. } = self;
        json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, json, self.json().to_string()).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}
