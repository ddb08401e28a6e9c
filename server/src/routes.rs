//! The paths and their handlers.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use axum::{
    BoxError, Router,
    body::{Body, Bytes},
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use memmap2::MmapMut;
use serde_json::{Value, json};
use tokio::{task, time};

use crate::{
    api::{
        error::ApiError,
        kind::Kind,
        request::ApiRequest,
        stream::{events, whole},
        text,
    },
    app::App,
    guard::guard,
    watch::watch,
};

/// Content security policy: the page may only load resources from this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A body of more than this many bytes is long. Reading and tokenizing a long body takes
/// milliseconds.
const LONG: usize = 16 * 1024;

type Shared = State<Arc<App>>;

/// Returns the router of all paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    let file = |kind, text: &'static str| get(move || async move { page(kind, text) });
    Router::new()
        .route("/v1/chat/completions", post(|app, request| answer(Kind::Chat, app, request)))
        .route("/v1/completions", post(|app, request| answer(Kind::Completion, app, request)))
        .route("/v1/models", get(models))
        .route("/v1/models/{*name}", get(model))
        .route("/tokenize", post(|app, request| texts(text::tokenize, app, request)))
        .route("/detokenize", post(|app, request| texts(text::detokenize, app, request)))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/live", get(watch))
        .route("/", file("text/html; charset=utf-8", include_str!("page/page.html")))
        .route("/page.css", file("text/css; charset=utf-8", include_str!("page/page.css")))
        .route("/page.js", file("text/javascript; charset=utf-8", include_str!("page/page.js")))
        .fallback(|| async {
            ApiError::invalid("there is nothing at this path")
                .with(StatusCode::NOT_FOUND, "not_found")
        })
        .method_not_allowed_fallback(|| async {
            ApiError::invalid("this path does not support this method")
                .with(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

async fn answer(kind: Kind, State(app): Shared, request: Request) -> Response {
    let counted = Arc::clone(&app);
    answered(kind, app, request).await.unwrap_or_else(|error| {
        // A request for which the queue had no room has already been counted, in `refused[1]`.
        let is_full = error.status == StatusCode::TOO_MANY_REQUESTS;
        let is_invalid = error.status.is_client_error() && !is_full;
        counted.metrics.refused[0].fetch_add(u64::from(is_invalid), Relaxed);
        close_if_unread(error)
    })
}

async fn answered(kind: Kind, app: Arc<App>, request: Request) -> Result<Response, ApiError> {
    let body = body(&app, request).await?;
    let submitted = blocking(app, body, move |app, body| {
        let wanted = ApiRequest::read(kind, body, app.bounds())?;
        let (waiting, answers) = app.submit(&wanted)?;
        Ok((wanted, waiting, answers))
    });
    let (wanted, waiting, answers) = submitted.await?;
    if wanted.stream {
        events(waiting, answers, wanted.include_usage).await
    } else {
        Ok(object(&whole(waiting, answers).await?))
    }
}

/// Answers a request that needs only the tokenizer. `of` computes the answer from the body.
async fn texts(
    of: fn(&App, &[u8]) -> Result<Value, ApiError>,
    State(app): Shared,
    request: Request,
) -> Response {
    let result = async {
        let body = body(&app, request).await?;
        blocking(app, body, of).await
    };
    result.await.map_or_else(close_if_unread, |value| object(&value))
}

/// Runs `work` on one of two threads for slow work, because tokenizing a long prompt takes time and
/// must not delay other answers. Long bodies use only one thread at a time, in order of arrival, so
/// that a short body never waits for a long one.
///
/// # Errors
/// If `work` returns an error, or panics, for example because of an unwritten task.
async fn blocking<T: Send + 'static>(
    app: Arc<App>,
    body: Bytes,
    work: impl FnOnce(&App, &[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let long = body.len() > LONG;
    let turn = if long { Arc::clone(&app.long_bodies).acquire_owned().await.ok() } else { None };
    let work = move || {
        // Holds the permit until the work is done, even if the client leaves.
        let _turn = turn;
        work(&app, &body)
    };
    task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let said = error.try_into_panic().map(|panic| crate::said(&*panic)).unwrap_or_default();
        Err(ApiError::failed(said))
    })
}

/// Reads a request's body.
///
/// # Errors
/// If the body is not declared as JSON, is too long, or does not arrive in time.
async fn body(app: &App, request: Request) -> Result<Bytes, ApiError> {
    let most = app.settings.max_body;
    let too_long = || {
        ApiError::invalid(format!("the body is too long: expected at most {most} bytes"))
            .with(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large")
    };
    if !is_json(request.headers()) {
        // Browsers let foreign pages send other types without a preflight request.
        let message = "expected the content type application/json";
        let error = ApiError::invalid(message);
        return Err(error.with(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type"));
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok());
    let length: Option<usize> = length.and_then(|n| n.parse().ok());
    if length.is_some_and(|n| n > most) {
        return Err(too_long());
    }
    let body = collect(Limited::new(request.into_body(), most), length);
    match time::timeout(app.settings.body_time, body).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(_)) => Err(ApiError::invalid("the body is incomplete")),
        Err(_) => {
            let seconds = app.settings.body_time.as_secs_f64();
            let message = format!("the body did not arrive within {seconds} seconds");
            let error = ApiError::invalid(message);
            Err(error.with(StatusCode::REQUEST_TIMEOUT, "body_too_slow"))
        }
    }
}

/// Collects a body of `length` bytes, or of unknown length. A body that is known to be longer than
/// [`LONG`] gets its own memory pages, which are returned to the system when the body is dropped.
/// The heap would keep part of that memory.
async fn collect(mut body: Limited<Body>, length: Option<usize>) -> Result<Bytes, BoxError> {
    let Some(length) = length.filter(|&n| n > LONG) else {
        return Ok(body.collect().await?.to_bytes());
    };
    let (mut pages, mut filled) = (MmapMut::map_anon(length)?, 0);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            let room = pages.get_mut(filled..filled + data.len());
            room.ok_or("more bytes than announced")?.copy_from_slice(&data);
            filled += data.len();
        }
    }
    Ok(Bytes::from_owner(pages).slice(..filled))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// Returns the response for an error. If the request's body was not read completely, the response
/// closes the connection, because the rest of the body would look like the next request.
fn close_if_unread(error: ApiError) -> Response {
    let unread = matches!(
        error.status,
        StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    let mut response = error.into_response();
    if unread {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn object(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn described(app: &App) -> Value {
    json!({
        "id": app.settings.name,
        "object": "model",
        "created": app.created,
        "owned_by": "tiny-llm",
        "max_model_len": app.context,
        "engine": app.described,
    })
}

async fn models(State(app): Shared) -> Response {
    object(&json!({ "object": "list", "data": [described(&app)] }))
}

async fn model(
    State(app): Shared,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    // A name that is not UTF-8 can't be a model's name.
    if name.map_or(true, |Path(name)| name != app.settings.name) {
        let message = format!("no such model: this server has only {:?}", app.settings.name);
        let error = ApiError::field("model", message);
        return Err(error.with(StatusCode::NOT_FOUND, "model_not_found"));
    }
    Ok(object(&described(&app)))
}

async fn health(State(app): Shared) -> Response {
    if app.ending.load(Relaxed) {
        return ApiError::ending().into_response();
    }
    object(&json!({ "status": "ok" }))
}

async fn metrics(State(app): Shared) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}

fn page(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, Body::from(text)).into_response()
}
