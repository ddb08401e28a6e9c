//! Tests `tiny-llm-fetch` with a good local hub, with bad hubs, and while the process is killed at
//! random moments.

mod bad;
mod good;
mod hub;
mod kill;
mod program;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use hub::{Act, Asked, Hub, Stored};
use tempfile::TempDir;
use tiny_llm_fetch::{Settings, Show, fetch};
use tiny_llm_formats::hub::{Name, find};

/// Returns the files of a small model, and two files that no engine reads.
fn model() -> Vec<Stored> {
    let text = |name: &str| Stored::new(name, format!("{{\"{name}\": 1}}").into_bytes(), false);
    let mut weights = vec![0; 1_500_000];
    fastrand::Rng::with_seed(7).fill(&mut weights);
    vec![
        text("README.md"),
        text("config.json"),
        text("generation_config.json"),
        Stored::new("model.safetensors", weights, true),
        Stored::new("pytorch_model.bin", vec![1; 5000], true),
        text("tokenizer.json"),
        text("tokenizer_config.json"),
    ]
}

/// The files of [`model`] that a fetch downloads.
const NEEDED: [&str; 5] = [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
];

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

/// A cache in a temporary folder.
struct Cache(TempDir);

impl Cache {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn settings(&self, hub: &Hub) -> Settings {
        Settings {
            endpoint: hub.endpoint(),
            token: None,
            offline: false,
            cache: self.path().to_owned(),
            answer_time: Duration::from_secs(20),
            stall_time: Duration::from_secs(20),
            pause: Duration::from_millis(1),
        }
    }

    fn fetch(&self, hub: &Hub, model: &str) -> Result<PathBuf> {
        fetch(&name(model), &self.settings(hub), &Show::Nothing)
    }

    /// Checks the cache: each complete blob has its hash, and if the model is found, each of its
    /// files has the same content as on the hub. Returns the model's path.
    #[track_caller]
    fn check(
        &self,
        what: &str,
        model: &str,
        stored: &[Stored],
        needed: &[&str],
    ) -> Option<PathBuf> {
        let blobs = name(model).folder(self.path()).join("blobs");
        for blob in fs::read_dir(blobs).into_iter().flatten() {
            let blob = blob.expect("a file");
            let text = blob.file_name().into_string().expect("text");
            if text.ends_with(".incomplete") {
                continue;
            }
            let large = text.len() == 64;
            let content = fs::read(blob.path()).expect("a file");
            assert_eq!(Stored::new("", content, large).hash, text, "{what}: a blob");
        }
        let found = find(&name(model), self.path()).ok();
        let revision = name(model).folder(self.path()).join("refs/main");
        assert!(found.is_some() || !revision.exists(), "{what}: a revision without its files");
        let found = found?;
        for wanted in needed {
            let file = stored.iter().find(|file| file.name == *wanted).expect("a file");
            let path = if found.is_dir() { found.join(wanted) } else { found.clone() };
            let content = fs::read(&path).unwrap_or_else(|e| panic!("{what}: {wanted}: {e}"));
            assert!(content == *file.content, "{what}: {wanted} has another content");
        }
        Some(found)
    }
}

/// Starts a hub that handles all requests correctly.
fn good(files: &[Stored]) -> Hub {
    Hub::start(files.to_vec(), |_: &Asked| Act::Serve)
}
