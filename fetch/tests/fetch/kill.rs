//! Kills the process at random moments, and runs several processes at the same time.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Cache, NEEDED,
    hub::{Act, Hub, Kind},
    model,
    program::command,
};

/// Environment variable with the number of kills. `cargo course verify` sets it to 100.
const VARIABLE: &str = "TINY_LLM_FETCH_KILLS";

#[test]
fn a_killed_download_leaves_no_wrong_file_and_is_resumed() {
    let kills = std::env::var(VARIABLE).map_or(8, |text| text.parse().expect(VARIABLE));
    let stored = model();
    let mut random = fastrand::Rng::new();
    println!("seed {}", random.get_seed());
    let (mut killed, mut resumed, mut completed) = (0, 0, 0);
    let slow = |asked: &super::hub::Asked| match asked.kind {
        Kind::Content => Act::Slow(Duration::from_millis(8)),
        _ => Act::Serve,
    };
    let mut cache = Cache::new();
    while killed < kills {
        let hub = Hub::start(model(), slow);
        let mut child = command(&cache, &hub, &["owner/name"]).spawn().expect("the program starts");
        // Kills it shortly after 0 to 11 requests. A complete download sends at most 12.
        let (requests, begin) = (random.usize(0..12), Instant::now());
        let ended = loop {
            match child.try_wait().expect("a process") {
                Some(status) => break Some(status),
                None if hub.asked().len() >= requests => break None,
                None => thread::sleep(Duration::from_millis(1)),
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "it stalls");
        };
        if ended.is_none() {
            thread::sleep(Duration::from_micros(random.u64(0..100_000)));
            child.kill().expect("a process");
        }
        let output = child.wait_with_output().expect("a process");
        let what = format!("kill {killed} after {requests} requests");
        let found = cache.check(&what, "owner/name", &stored, &NEEDED);
        let from = hub.asked_for(Kind::Content, "model.safetensors");
        resumed += from.iter().filter(|asked| asked.from.is_some()).count();
        if output.status.success() {
            assert!(found.is_some(), "{what}");
            completed += 1;
            cache = Cache::new();
        } else {
            assert_eq!(output.status.code(), None, "{}", String::from_utf8_lossy(&output.stderr));
            killed += 1;
        }
    }
    let hub = Hub::start(model(), |_| Act::Serve);
    let path = cache.fetch(&hub, "owner/name").expect("a model");
    assert_eq!(cache.check("at the end", "owner/name", &stored, &NEEDED), Some(path));
    println!("{killed} killed, {resumed} downloads continued, {completed} completed between kills");
    assert!(kills < 100 || resumed >= 5, "only {resumed} of them continued a download");
}

#[test]
fn several_processes_download_a_file_once() {
    let (cache, stored) = (Cache::new(), model());
    let hub = Hub::start(model(), |asked| match asked.kind {
        Kind::Content => Act::Slow(Duration::from_millis(20)),
        _ => Act::Serve,
    });
    let start = |_| command(&cache, &hub, &["owner/name"]).spawn().expect("the program starts");
    let children: Vec<_> = (0..4).map(start).collect();
    for child in children {
        let output = child.wait_with_output().expect("a process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found = cache.check("at once", "owner/name", &stored, &NEEDED).expect("a model");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert_eq!(printed.trim_end(), found.to_str().expect("text"));
    }
    for file in NEEDED {
        let number = hub.asked_for(Kind::Get, file).len();
        assert_eq!(number, 1, "{file} was downloaded {number} times");
    }
}
