//! Checks the header size, the host and the key of each request, and adds CORS headers if the
//! settings allow an origin.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use subtle::ConstantTimeEq;
use tiny_llm_cli::Settings;

use crate::{api::error::ApiError, app::App};

/// Maximum size of a request's header in bytes: the path, and the names and values of the fields.
pub(crate) const MAX_HEADER: usize = 64 * 1024;

/// Paths that need no key: load balancers have no key, and the page asks its user for one.
const OPEN: [&str; 4] = ["/", "/page.css", "/page.js", "/health"];

/// Passes a request on to its handler, unless a check fails. Answers CORS preflight requests
/// itself.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let cors = app.settings.cors.as_deref();
    let mut response = if head_len(&request) > MAX_HEADER {
        ApiError::invalid(format!("the header is too long: expected at most {MAX_HEADER} bytes"))
            .with(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "header_too_large")
            .into_response()
    } else if !is_for_us(&app.settings, &request) {
        let message = "\"Host\": expected an address, localhost, or a name given with --allow-host";
        ApiError::field("Host", message)
            .with(StatusCode::FORBIDDEN, "host_not_allowed")
            .into_response()
    } else if preflight && cors.is_some() {
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
            // `*` does not cover the `authorization` header.
            let all = HeaderValue::from_static("authorization, content-type, *");
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, all);
        }
    }
    response
}

/// Returns the size of a request's header in bytes, as [`MAX_HEADER`] limits it.
fn head_len(request: &Request) -> usize {
    let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    request.uri().path_and_query().map_or(0, |path| path.as_str().len()) + lines.sum::<usize>()
}

/// Returns whether a request's host is `localhost`, one of the server's names or an IP address.
/// This stops DNS rebinding: a page whose domain was redirected to this machine still sends that
/// domain as the host. An IP address can't be redirected.
fn is_for_us(settings: &Settings, request: &Request) -> bool {
    let own = |host: &str| {
        let names = settings.allow_hosts.iter().chain([&settings.host]).map(String::as_str);
        host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || names.chain(["localhost"]).any(|name| name.eq_ignore_ascii_case(host))
    };
    let mut hosts = request.headers().get_all(header::HOST).iter();
    hosts.all(|host| Authority::try_from(host.as_bytes()).is_ok_and(|host| own(host.host())))
        && request.uri().host().is_none_or(own)
}

/// Returns whether `headers` contain the key, or no key is required.
fn allowed(key: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(key) = key else { return true };
    let mut said = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(said), None) = (said.next(), said.next()) else { return false };
    match said.as_bytes().split_at_checked(7) {
        Some((scheme, said)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
            // Compares in constant time, so that the time does not reveal how many bytes match.
            key.as_bytes().ct_eq(said).into()
        }
        _ => false,
    }
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
    fn accepts_only_the_complete_key() {
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
