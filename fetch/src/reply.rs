//! Unsuccessful responses, and their meanings.

use anyhow::{Error, anyhow};
use ureq::{Body, http::Response};

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Another attempt would also fail.
    Final(Error),
    /// The server cannot be reached, or does not respond.
    Offline(Error),
    /// The connection was cut, or the server is busy.
    Passing(Error),
}

/// Returns a header as text.
pub(crate) fn header_of(response: &Response<Body>, name: &str) -> Option<String> {
    let text = response.headers().get(name)?;
    Some(String::from_utf8_lossy(text.as_bytes()).into_owned())
}

/// Converts an unsuccessful response to a failure with an explanation. The request was about a
/// repository or one of its files.
pub(crate) fn refused(
    response: &Response<Body>,
    host: &str,
    id: &str,
    revision: Option<&str>,
    file: Option<&str>,
    with_token: bool,
) -> Failure {
    let status = response.status().as_u16();
    let code = header_of(response, "x-error-code").unwrap_or_default();
    let of_file = file.map_or(String::new(), |file| format!(" to {file}"));
    Failure::Final(match (status, code.as_str()) {
        (429 | 500..=599, _) => {
            return Failure::Passing(anyhow!("{host}: found status {status}, expected 200"));
        }
        (_, "GatedRepo") if with_token => anyhow!(
            "{id}: the repository is gated, and HF_TOKEN gives no access: accept its terms at \
             {host}/{id}"
        ),
        (_, "GatedRepo") => anyhow!(
            "{id}: the repository is gated: accept its terms at {host}/{id}, then set HF_TOKEN"
        ),
        (_, "RevisionNotFound") => anyhow!(
            "{id}: found no revision {}; give a branch, a tag or a commit",
            revision.unwrap_or("of this name")
        ),
        (401, "RepoNotFound") | (404, "RepoNotFound" | "") if file.is_none() && !with_token => {
            anyhow!(
                "{id}: found no public repository of this name at {host}; to read a private \
                 repository, set HF_TOKEN"
            )
        }
        (404, "RepoNotFound" | "") if file.is_none() => {
            anyhow!(
                "{id}: {host} has no repository of this name, or HF_TOKEN gives no access to it"
            )
        }
        (404, _) => anyhow!("{id}: found no file {} at {host}", file.unwrap_or_default()),
        (401, _) if with_token => {
            anyhow!("{id}: {host} does not accept the token in HF_TOKEN; set a valid one")
        }
        (401, _) => anyhow!("{id}: {host} expects a token in HF_TOKEN"),
        (403, _) => anyhow!("{id}: {host} forbids access{of_file}"),
        _ => anyhow!("{id}: {host}: found status {status}, expected 200"),
    })
}

/// Converts the error of a request that got no response, or only a part of one, to a failure.
pub(crate) fn lost(error: ureq::Error, host: &str) -> Failure {
    use std::io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock,
    };
    match error {
        ureq::Error::Timeout(_) => Failure::Offline(anyhow!("{host}: no answer in time ({error})")),
        ureq::Error::HostNotFound => {
            Failure::Offline(anyhow!("{host}: no such host; check the network connection"))
        }
        ureq::Error::Io(e) => match e.downcast::<ureq::Error>() {
            // The body's reader wraps ureq's error in an I/O error.
            Ok(inner) => lost(inner, host),
            Err(e) => match e.kind() {
                TimedOut | WouldBlock => {
                    Failure::Offline(anyhow!("{host}: no answer in time ({e})"))
                }
                UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => {
                    Failure::Passing(anyhow!("{host}: the connection was cut ({e})"))
                }
                _ => Failure::Offline(anyhow!("{host}: cannot be reached: {e}")),
            },
        },
        ureq::Error::ConnectionFailed => {
            Failure::Offline(anyhow!("{host}: cannot be reached: {error}"))
        }
        other => Failure::Final(anyhow!("{host}: unexpected answer: {other}")),
    }
}
