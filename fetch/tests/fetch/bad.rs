//! Tests with bad answers. After them, no wrong file is found, and a good hub completes the
//! download.

use std::time::Duration;

use tiny_llm_fetch::{Show, fetch};

use super::{
    Cache, NEEDED, good,
    hub::{
        Act::{
            self, Body, Cut, Header, IgnoreRange, Raw, Redirect, Refuse, Serve, Silence, Spoil,
            Stall, Unstated,
        },
        Hub,
        Kind::{self, Content, Get, Head, Listing},
    },
    model, name,
};

const ALWAYS: usize = usize::MAX;
const WEIGHTS: &str = "model.safetensors";

/// A kind of request, the requested file, how many requests get the bad answer, that answer, and
/// words of the expected error. Without words, the download must succeed.
type Case = (Kind, &'static str, usize, Act, &'static [&'static str]);

#[rustfmt::skip]
const CASES: [Case; 64] = [
    (Listing, "", ALWAYS, Refuse(404, "RepoNotFound"), &["owner/name: found no public repository of this name at 127.0.0.1"]),
    (Listing, "", ALWAYS, Refuse(401, "RepoNotFound"), &["no public repository", "to read a private repository, set HF_TOKEN"]),
    (Listing, "", ALWAYS, Refuse(401, ""), &["expects a token in HF_TOKEN"]),
    (Listing, "", ALWAYS, Refuse(401, "GatedRepo"), &["the repository is gated: accept its terms", "set HF_TOKEN"]),
    (Listing, "", ALWAYS, Refuse(403, "GatedRepo"), &["the repository is gated"]),
    (Listing, "", ALWAYS, Refuse(404, "RevisionNotFound"), &["found no revision main"]),
    (Listing, "", ALWAYS, Refuse(403, ""), &["forbids access"]),
    (Listing, "", ALWAYS, Refuse(418, ""), &["found status 418, expected 200"]),
    (Listing, "", ALWAYS, Refuse(500, ""), &["found status 500"]),
    (Listing, "", 2, Refuse(503, ""), &[]),
    (Listing, "", 4, Refuse(429, ""), &[]),
    (Listing, "", ALWAYS, Body(""), &["found no JSON"]),
    (Listing, "", ALWAYS, Body("<html>Log in</html>"), &["found no JSON", "the address of a hub?"]),
    (Listing, "", ALWAYS, Body("[]"), &["\"sha\": found null, expected a commit"]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"../../../x\"}"), &["\"sha\": found \"../../../x\", expected a commit"]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\"}"), &["found no list of files in \"siblings\""]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\", \"siblings\": [1]}"), &["without \"rfilename\""]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\", \"siblings\": []}"), &["no model.safetensors or GGUF file", "which has none"]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\", \"siblings\": [{\"rfilename\": \"../../x.gguf\"}]}"), &["\"../../x.gguf\", expected a relative path"]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\", \"siblings\": [{\"rfilename\": \"/x.gguf\"}]}"), &["expected a relative path"]),
    (Listing, "", ALWAYS, Body("{\"sha\": \"0123456789abcdef0123456789abcdef01234567\", \"siblings\": [{\"rfilename\": \"model.safetensors\"}]}"), &["no config.json", "which has model.safetensors"]),
    (Listing, "", ALWAYS, Redirect("http://@hub/api/models/owner/name"), &["found more than 10 redirects, the last to 127.0.0.1"]),
    (Listing, "", ALWAYS, Redirect("ftp://example.org/"), &["found a redirect to \"ftp://example.org/\""]),
    (Listing, "", ALWAYS, Redirect(""), &["found a redirect to \"\""]),
    (Listing, "", ALWAYS, Redirect("http://no host/"), &["found a redirect to \"http://no host/\""]),
    (Listing, "", 1, Redirect("/api/models/owner/name"), &[]),
    (Listing, "", ALWAYS, Raw(""), &["127.0.0.1"]),
    (Listing, "", ALWAYS, Raw("SSH-2.0-OpenSSH_9.6\r\n\r\n"), &["unexpected answer"]),
    (Listing, "", ALWAYS, Silence, &["no answer in time"]),
    (Listing, "", ALWAYS, Stall(10), &["no answer in time"]),
    (Listing, "", ALWAYS, Cut(10), &["127.0.0.1", "cut"]),
    (Listing, "", 2, Cut(10), &[]),
    (Listing, "", ALWAYS, Header("content-length", "5"), &["found no JSON"]),
    (Head, "config.json", ALWAYS, Refuse(404, "EntryNotFound"), &["owner/name: found no file config.json at 127.0.0.1"]),
    (Head, WEIGHTS, ALWAYS, Refuse(401, "GatedRepo"), &["the repository is gated"]),
    (Head, "config.json", ALWAYS, Header("etag", ""), &["config.json: found ETag \"\", expected a SHA-256"]),
    (Head, "config.json", ALWAYS, Header("etag", "\"abc\""), &["found ETag \"\\\"abc\\\"\""]),
    (Head, WEIGHTS, ALWAYS, Header("x-linked-etag", "../../../../x"), &["model.safetensors: found ETag \"../../../../x\""]),
    (Head, WEIGHTS, ALWAYS, Header("x-linked-size", ""), &[]),
    (Head, WEIGHTS, ALWAYS, Header("x-linked-size", "-1"), &["model.safetensors: found length \"-1\", expected a number of bytes"]),
    (Head, WEIGHTS, ALWAYS, Header("x-linked-size", "9000000000000000000"), &["of free disk space, expected at least 9.0 EB"]),
    (Head, WEIGHTS, ALWAYS, Header("x-linked-size", "10"), &["found a length of 1500000 bytes, expected 10"]),
    (Head, WEIGHTS, ALWAYS, Header("x-repo-commit", "ffff"), &["found commit \"ffff\", expected 0123"]),
    (Head, WEIGHTS, ALWAYS, Redirect("http://@hub/owner/name/resolve/main/model.safetensors"), &["found more than 10 redirects"]),
    (Head, WEIGHTS, ALWAYS, Silence, &["no answer in time"]),
    (Head, WEIGHTS, 3, Refuse(502, ""), &[]),
    (Get, "config.json", ALWAYS, Spoil(0), &["config.json: found hash", ", expected "]),
    (Get, "config.json", ALWAYS, Cut(3), &["config.json: ", "received 15 of 18 bytes; fetch again to continue"]),
    (Get, "config.json", 2, Cut(3), &[]),
    (Get, "config.json", ALWAYS, Body("other"), &["config.json: found a length of 5 bytes, expected 18"]),
    (Get, "config.json", ALWAYS, Unstated("more"), &["config.json: received more than 18 bytes"]),
    (Get, "config.json", ALWAYS, Unstated(""), &[]),
    (Get, WEIGHTS, ALWAYS, Redirect("http://@hub/owner/name/resolve/main/model.safetensors"), &["found more than 10 redirects"]),
    (Content, WEIGHTS, ALWAYS, Cut(100_000), &["the connection was cut", "received 500000 of 1500000 bytes; fetch again"]),
    (Content, WEIGHTS, 4, Cut(100_000), &[]),
    (Content, WEIGHTS, 1, Stall(100_000), &[]),
    (Content, WEIGHTS, ALWAYS, Silence, &["no answer in time", "received 0 of 1500000 bytes"]),
    (Content, WEIGHTS, ALWAYS, Spoil(1_000_000), &["model.safetensors: found hash"]),
    (Content, WEIGHTS, ALWAYS, Header("content-length", "1500100"), &["found a length of 1500100 bytes, expected 1500000"]),
    (Content, WEIGHTS, ALWAYS, Header("content-length", "10"), &["found a length of 10 bytes, expected 1500000"]),
    (Content, WEIGHTS, ALWAYS, Refuse(403, ""), &["forbids access to model.safetensors"]),
    (Content, WEIGHTS, ALWAYS, Redirect("http://@content/x"), &["found no file model.safetensors at 127.0.0.1"]),
    (Content, WEIGHTS, 3, Refuse(500, ""), &[]),
    (Content, WEIGHTS, ALWAYS, Raw("HTTP/1.1 two hundred\r\n\r\n"), &["unexpected answer"]),
];

#[test]
fn bad_answers_leave_no_wrong_file_and_a_retry_completes() {
    for (kind, file, times, act, words) in CASES {
        let what = format!("{kind:?} {file} {act:?}, {times} times");
        let short = matches!(act, Silence | Stall(_));
        let hub = Hub::start(model(), move |asked| {
            let file = file.is_empty() || asked.file == file;
            let hit = asked.kind == kind && file && asked.number < times;
            if hit { act.clone() } else { Serve }
        });
        fails_and_completes(&what, &hub, short, words);
    }
}

#[test]
fn survives_a_server_that_resumes_incorrectly() {
    let second: [(Act, &[&str]); 5] = [
        (Serve, &[]),
        (IgnoreRange, &[]),
        (Refuse(416, ""), &[]),
        (Header("content-range", "bytes 0-9/1500000"), &["found range \"bytes 0-9/1500000\""]),
        (Spoil(0), &["model.safetensors: found hash"]),
    ];
    for (act, words) in second {
        let what = format!("resumed: {act:?}");
        let hub = Hub::start(model(), move |asked| match (asked.kind, asked.number) {
            (Content, 0) => Cut(100_000),
            (Content, 1) => act.clone(),
            _ => Serve,
        });
        fails_and_completes(&what, &hub, false, words);
        let from: Vec<_> = hub.asked_for(Content, WEIGHTS).iter().map(|a| a.from).collect();
        assert_eq!(from[..2], [None, Some(100_000)], "{what}");
    }
}

/// Fetches from a bad hub, then from a good one into the same cache. Checks the cache each time.
#[track_caller]
fn fails_and_completes(what: &str, hub: &Hub, short: bool, words: &[&str]) {
    let (cache, stored) = (Cache::new(), model());
    let mut settings = cache.settings(hub);
    if short {
        settings.answer_time = Duration::from_secs(1);
        settings.stall_time = settings.answer_time;
    }
    let outcome = fetch(&name("owner/name"), &settings, &Show::Nothing);
    let found = cache.check(what, "owner/name", &stored, &NEEDED);
    match outcome {
        Ok(path) => assert!(words.is_empty() && found == Some(path), "{what}: it succeeded"),
        Err(error) => {
            let text = format!("{error:#}");
            assert!(!words.is_empty() && !text.contains('\n'), "{what}: {text}");
            for word in words {
                assert!(text.contains(word), "{what}: expected {word:?} in {text}");
            }
            assert_eq!(found, None, "{what}: found after an error");
        }
    }
    let path =
        cache.fetch(&good(&stored), "owner/name").unwrap_or_else(|e| panic!("{what}: {e:#}"));
    assert_eq!(cache.check(what, "owner/name", &stored, &NEEDED), Some(path), "{what}");
}
