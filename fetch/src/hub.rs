//! Requests to the hub: lists of files, and the bytes of a file.

use std::{io::Read, thread, time::Duration};

use anyhow::{Result, anyhow, ensure};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tiny_llm_formats::hub::Name;
use ureq::{
    Agent, Body,
    config::AutoHeaderValue,
    http::{Method, Request, Response, Uri, header},
    tls::{RootCerts, TlsConfig},
};

use crate::{
    hash::Hash,
    reply::{Failure, header_of, lost, refused},
    settings::Settings,
};

/// Maximum number of consecutive attempts without progress.
pub(crate) const ATTEMPTS: u32 = 5;
/// Maximum number of redirects of one request.
const REDIRECTS: usize = 10;
/// Maximum size of a list of files, in bytes.
const LISTING: u64 = 64 << 20;

/// Characters that are percent-encoded in a whole path. `PART` is the set for one part of a path.
const PATH: &AsciiSet = &PART.remove(b'/');
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The files of one commit.
pub(crate) struct Listing {
    pub(crate) commit: String,
    pub(crate) files: Vec<String>,
}

/// A file on the hub.
pub(crate) struct Remote {
    /// Path in the repository.
    pub(crate) file: String,
    pub(crate) hash: Hash,
    pub(crate) size: u64,
    /// URL of the file on the hub.
    url: String,
    /// Name of the repository, for messages.
    id: String,
}

/// A client of the hub.
pub(crate) struct Hub {
    agent: Agent,
    endpoint: String,
    token: Option<String>,
    pause: Duration,
}

impl Hub {
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        let endpoint = settings.endpoint.clone();
        ensure!(
            origin(&endpoint).is_some(),
            "HF_ENDPOINT: found {endpoint:?}, expected an address"
        );
        // Uses the system's certificates, which may include those of a company's proxy.
        let certificates = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // Redirects are followed in this file, because the headers of the first response are
            // needed, and because the token must be sent only to the hub.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(settings.answer_time))
            .timeout_recv_response(Some(settings.answer_time))
            .timeout_per_read(Some(settings.stall_time))
            .timeout_per_write(Some(settings.stall_time))
            .user_agent(concat!("tiny-llm-fetch/", env!("CARGO_PKG_VERSION")))
            // A compressed file would have a different length.
            .accept_encoding(AutoHeaderValue::Provided("identity".to_owned().into()))
            .tls_config(certificates)
            .build()
            .into();
        Ok(Self { agent, endpoint, token: settings.token.clone(), pause: settings.pause })
    }

    /// Returns the commit of a revision, and the names of the commit's files.
    pub(crate) fn listing(&self, name: &Name) -> Result<Listing> {
        let revision = utf8_percent_encode(name.revision(), PART);
        let url = format!("{}/api/models/{}/revision/{revision}", self.endpoint, name.id());
        let text = self.patiently(|| {
            let response = self.send(Method::GET, &url, 0)?;
            if !response.status().is_success() {
                return Err(refused(
                    &response,
                    &self.host(),
                    &name.id(),
                    Some(name.revision()),
                    None,
                    self.token.is_some(),
                ));
            }
            let mut text = String::new();
            let body = response.into_body().into_reader().take(LISTING).read_to_string(&mut text);
            match body {
                Ok(_) => Ok(text),
                Err(e) => Err(lost(e.into(), &self.host())),
            }
        })?;
        listing(&text).map_err(|problem| {
            anyhow!("{url}: {problem}; is {} the address of a hub?", self.endpoint)
        })
    }

    /// Returns a file's hash and length.
    pub(crate) fn remote(&self, name: &Name, commit: &str, file: &str) -> Result<Remote> {
        let (id, path) = (name.id(), utf8_percent_encode(file, PATH));
        let url = format!("{}/{id}/resolve/{commit}/{path}", self.endpoint);
        let response = self.patiently(|| {
            let response = self.send(Method::HEAD, &url, 0)?;
            let status = response.status();
            if status.is_success() || status.is_redirection() {
                return Ok(response);
            }
            Err(refused(&response, &self.host(), &id, None, Some(file), self.token.is_some()))
        })?;
        let text = |name| header_of(&response, name);
        if let Some(found) = text("x-repo-commit") {
            ensure!(found == commit, "{id}: {file}: found commit {found:?}, expected {commit}");
        }
        let linked = text("x-linked-etag");
        let etag = linked.as_ref().or(text("etag").as_ref()).cloned().unwrap_or_default();
        let hash = Hash::of_etag(&etag).ok_or_else(|| {
            anyhow!(
                "{id}: {file}: found ETag {etag:?}, expected a SHA-256 or the hash of a Git blob"
            )
        })?;
        let size = match linked {
            Some(_) => text("x-linked-size"),
            None => text("content-length"),
        };
        let number = size.as_ref().and_then(|size| size.parse().ok());
        let size = number.ok_or_else(|| {
            anyhow!(
                "{id}: {file}: found length {:?}, expected a number of bytes",
                size.unwrap_or_default()
            )
        })?;
        Ok(Remote { file: file.to_owned(), hash, size, url, id })
    }

    /// Requests a file's bytes from position `from` on. Returns the position at which the received
    /// bytes begin (0 if the server sends the whole file), and the bytes.
    pub(crate) fn open(&self, remote: &Remote, from: u64) -> Result<(u64, Body), Failure> {
        let response = self.send(Method::GET, &remote.url, from)?;
        let (file, size) = (&remote.file, remote.size);
        let begin = match response.status().as_u16() {
            200 => 0,
            206 if from > 0 => {
                let range = header_of(&response, "content-range").unwrap_or_default();
                let expected = format!("bytes {from}-{}/{size}", size - 1);
                if range != expected {
                    let problem = anyhow!("{file}: found range {range:?}, expected {expected:?}");
                    return Err(Failure::Final(problem));
                }
                from
            }
            // The server has no bytes from `from` on. Downloads all bytes again.
            416 if from > 0 => return self.open(remote, 0),
            _ => {
                return Err(refused(
                    &response,
                    &self.host(),
                    &remote.id,
                    None,
                    Some(file),
                    self.token.is_some(),
                ));
            }
        };
        let body = response.into_body();
        match body.content_length() {
            Some(found) if found != size - begin => Err(Failure::Final(anyhow!(
                "{file}: found a length of {found} bytes, expected {}",
                size - begin
            ))),
            _ => Ok((begin, body)),
        }
    }

    /// Pauses before a retry. `attempt` is the number of failed attempts since the last progress.
    /// Each one after the first doubles the pause.
    pub(crate) fn pause(&self, attempt: u32) {
        thread::sleep(self.pause * 2_u32.saturating_pow(attempt.saturating_sub(1)));
    }

    fn host(&self) -> String {
        host(&self.endpoint)
    }

    /// Sends a short request. Repeats it if the hub is busy or the connection is cut, up to
    /// [`ATTEMPTS`] attempts in total.
    fn patiently<T>(&self, mut request: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        let mut attempt = 1;
        loop {
            match request() {
                Ok(answer) => return Ok(answer),
                Err(Failure::Passing(_)) if attempt < ATTEMPTS => self.pause(attempt),
                Err(Failure::Final(e) | Failure::Offline(e) | Failure::Passing(e)) => {
                    return Err(e);
                }
            }
            attempt += 1;
        }
    }

    /// Sends a request and follows redirects. The token is sent only to the hub. A HEAD request
    /// stops at the first response that has the file's hash, because the host to which that
    /// response redirects does not send the hash.
    fn send(&self, method: Method, url: &str, from: u64) -> Result<Response<Body>, Failure> {
        let mut at = url.to_owned();
        for _ in 0..=REDIRECTS {
            let mut request = Request::builder().method(method.clone()).uri(&at);
            if let Some(token) = &self.token
                && origin(&at) == origin(&self.endpoint)
            {
                request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            }
            if from > 0 {
                request = request.header(header::RANGE, format!("bytes={from}-"));
            }
            let request = request
                .body(())
                .map_err(|e| Failure::Final(anyhow!("{at}: not an address: {e}")))?;
            let response = self.agent.run(request).map_err(|e| lost(e, &host(&at)))?;
            let states = |name| response.headers().contains_key(name);
            let stated =
                method == Method::HEAD && states("x-linked-etag") && states("x-linked-size");
            if !response.status().is_redirection() || stated {
                return Ok(response);
            }
            let to = header_of(&response, "location").unwrap_or_default();
            at = target(&at, &to).ok_or_else(|| {
                Failure::Final(anyhow!(
                    "{}: found a redirect to {to:?}, which is not a valid http or https address",
                    host(&at)
                ))
            })?;
        }
        Err(Failure::Final(anyhow!(
            "{}: found more than {REDIRECTS} redirects, the last to {}",
            host(url),
            host(&at)
        )))
    }
}

/// Parses the list of files.
fn listing(text: &str) -> Result<Listing> {
    let json: Value = serde_json::from_str(text).map_err(|e| anyhow!("found no JSON ({e})"))?;
    let commit = json["sha"].as_str().unwrap_or_default().to_owned();
    let digits = commit.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    ensure!(
        commit.len() == 40 && digits,
        "\"sha\": found {}, expected a commit of 40 hexadecimal digits",
        json["sha"]
    );
    let siblings = json["siblings"].as_array();
    let siblings = siblings.ok_or_else(|| anyhow!("found no list of files in \"siblings\""))?;
    let name = |file: &Value| file["rfilename"].as_str().map(str::to_owned);
    let files = siblings.iter().map(name).collect::<Option<_>>();
    let files = files.ok_or_else(|| anyhow!("found a file without \"rfilename\""))?;
    Ok(Listing { commit, files })
}

/// Returns the scheme, host and port of a URL. A token for one such origin is not sent to another.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_owned();
    let port = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    Some((scheme, uri.host()?.to_lowercase(), uri.port_u16().unwrap_or(port)))
}

/// Returns the host of a URL and, if stated, its port.
fn host(url: &str) -> String {
    let uri: Option<Uri> = url.parse().ok();
    let authority = uri.as_ref().and_then(Uri::authority).map(|authority| {
        let text = authority.as_str();
        text.rsplit_once('@').map_or(text, |(_, host)| host).to_owned()
    });
    authority.unwrap_or_else(|| url.to_owned())
}

/// Resolves `to`, the address in a redirect from the URL `from`, to a URL. Returns `None` if `to`
/// is invalid, or is unencrypted although `from` is encrypted.
fn target(from: &str, to: &str) -> Option<String> {
    let (scheme, rest) = from.split_once("://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let to = to.split('#').next()?;
    let to = if to.is_empty() {
        return None;
    } else if to.contains("://") {
        to.to_owned()
    } else if let Some(rest) = to.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if let Some(rest) = to.strip_prefix('/') {
        format!("{scheme}://{authority}/{rest}")
    } else {
        let path = path.split('?').next()?;
        let folder =
            path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        format!("{scheme}://{authority}/{folder}{to}")
    };
    let (scheme, ..) = origin(&to)?;
    (scheme == "https" || !from.starts_with("https:")).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_targets_match_browsers() {
        let from = "https://hub.example/a/b?x=1";
        for (to, expected) in [
            ("https://cdn.example/c?d", Some("https://cdn.example/c?d")),
            ("//cdn.example/c", Some("https://cdn.example/c")),
            ("/c#part", Some("https://hub.example/c")),
            ("c", Some("https://hub.example/a/c")),
            ("http://hub.example/c", None),
            ("ftp://hub.example/c", None),
            ("", None),
        ] {
            assert_eq!(target(from, to).as_deref(), expected, "{to}");
        }
        assert_eq!(target("http://hub", "x").as_deref(), Some("http://hub/x"));
    }

    #[test]
    fn a_token_is_bound_to_scheme_host_and_port() {
        let hub = origin("https://Hub.example/api");
        assert_eq!(hub, origin("https://hub.example:443"));
        for other in ["http://hub.example", "https://hub.example:8443", "https://cdn.hub.example"] {
            assert_ne!(hub, origin(other), "{other}");
        }
        assert_eq!(host("https://user:secret@hub.example:1/x"), "hub.example:1");
    }
}
