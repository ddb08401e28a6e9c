//! Checks that apply to every request: the key and the origin.

use std::{hint::black_box, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{api::error::ApiError, app::App};

/// Paths without a key: load balancers have none, and the page asks its user for it.
const OPEN: [&str; 4] = ["/", "/page.css", "/page.js", "/health"];

/// Passes a request on, or answers it with an error.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let cors = app.settings.cors.as_deref();
    let mut response = if preflight && cors.is_some() {
        StatusCode::NO_CONTENT.into_response()
    } else if !OPEN.contains(&request.uri().path())
        && !allowed(app.settings.api_key.as_deref(), request.headers())
    {
        ApiError::unauthorized().into_response()
    } else {
        next.run(request).await
    };
    if let Some(origin) = cors.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        if preflight {
            let methods = HeaderValue::from_static("GET, POST, OPTIONS");
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            // `*` does not include the header with the key.
            let all = HeaderValue::from_static("authorization, content-type, *");
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, all);
        }
    }
    response
}

/// Returns whether the request has the key, or no key is required.
fn allowed(key: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(key) = key else { return true };
    let mut said = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(said), None) = (said.next(), said.next()) else { return false };
    match said.as_bytes().split_at_checked(7) {
        Some((scheme, said)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
            same(key.as_bytes(), said)
        }
        _ => false,
    }
}

/// Compares two byte strings in constant time: it looks at every byte of `said`, so the time does
/// not reveal how many match.
fn same(key: &[u8], said: &[u8]) -> bool {
    let mut different = usize::from(key.len() != said.len());
    for (i, byte) in said.iter().enumerate() {
        different |= usize::from(black_box(byte ^ key[i % key.len()]));
    }
    black_box(different) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).expect("a value"));
        }
        headers
    }

    #[test]
    fn only_the_whole_key_opens() {
        assert!(allowed(None, &headers(&[])) && allowed(None, &headers(&["Bearer x"])));
        let key = Some("sk-1");
        assert!(
            allowed(key, &headers(&["Bearer sk-1"])) && allowed(key, &headers(&["bearer sk-1"]))
        );
        for wrong in [
            &[][..],
            &[""],
            &["sk-1"],
            &["Bearer"],
            &["Bearer "],
            &["Bearer sk-"],
            &["Bearer sk-2"],
            &["Bearer sk-1sk-1"],
            &["Bearer sk-1 "],
            &["Basic sk-1"],
            &["Bearer sk-1", "Bearer sk-1"],
        ] {
            assert!(!allowed(key, &headers(wrong)), "{wrong:?}");
        }
    }
}
