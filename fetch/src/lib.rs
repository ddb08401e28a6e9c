//! `cargo llm fetch`: downloads a model from Hugging Face's hub into the cache that
//! `huggingface_hub` and the engines read.
//!
//! The crate `hf-hub` is not used. After every interruption, version 1.0 downloads the file again
//! from its first byte. It checks no hash, has no timeouts and no offline mode, and depends on
//! `tokio` and `hf-xet`. Version 0.5 resumes, but checks no hash either, and waits only a few
//! seconds for a lock. This crate uses `ureq`, a blocking HTTP client that reads proxies from the
//! environment and trusts the system's certificates.
//!
//! An incomplete download never appears as a model:
//!
//! 1. A file is downloaded as `blobs/HASH.incomplete`, under the lock that `huggingface_hub` also
//!    uses. The next attempt continues with that file. So do those versions of `huggingface_hub`
//!    that resume (2.4 does not).
//! 2. The file's hash is computed during the download. If the hash is right, the file is renamed
//!    to `blobs/HASH`.
//! 3. When all files are complete, `snapshots/COMMIT` gets a link to each: first small files, then
//!    the weights, and `config.json` last.
//! 4. `refs/REVISION` is written last.

mod blob;
mod choose;
mod hash;
mod hub;
mod reply;
mod settings;
mod show;
mod store;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use tiny_llm_formats::hub::{Name, find};

use self::{
    choose::{CONFIG, Wanted, wanted},
    hub::{Hub, Remote},
    store::Store,
};
pub use self::{
    settings::Settings,
    show::{Show, size},
};

/// The files that a fetch downloads.
pub struct Plan<'a> {
    name: &'a Name,
    settings: &'a Settings,
    hub: Hub,
    store: Store,
    commit: String,
    /// Files, in the order in which they are linked.
    files: Vec<Remote>,
}

/// One file of a plan.
pub struct Planned<'a> {
    /// Path in the repository.
    pub file: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// Number of bytes that are already in the cache.
    pub present: u64,
}

impl<'a> Plan<'a> {
    /// Asks the hub for the files and their sizes. Downloads only the index of sharded weights.
    ///
    /// # Errors
    /// If the hub cannot be reached, refuses the request, or lacks a file that the model needs. The
    /// message is one line.
    pub fn new(name: &'a Name, settings: &'a Settings, show: &Show) -> Result<Self> {
        let hub = Hub::new(settings)?;
        let store = Store::new(name, &settings.cache);
        let listing = hub.listing(name)?;
        let remote = |file: &str| hub.remote(name, &listing.commit, file);
        let mut files = Vec::new();
        match wanted(name, &listing.files)? {
            Wanted::File(file) => files.push(remote(file)?),
            Wanted::Folder { weights, rest } => {
                for file in rest {
                    files.push(remote(file)?);
                }
                let weights = remote(weights)?;
                if choose::is_index(&weights.file) {
                    blob::download(&hub, &store, &weights, show)?;
                    let path = store.blob(&weights.hash);
                    for shard in choose::shards(name, &path, &listing.files)? {
                        files.push(remote(&shard)?);
                    }
                }
                files.extend([weights, remote(CONFIG)?]);
            }
        }
        Ok(Self { name, settings, hub, store, commit: listing.commit, files })
    }

    /// Returns the files of the plan.
    pub fn files(&self) -> impl Iterator<Item = Planned<'_>> {
        self.files.iter().map(|file| Planned {
            file: &file.file,
            size: file.size,
            present: self.store.present(file),
        })
    }

    /// Downloads the missing files. Returns the path of the model.
    ///
    /// # Errors
    /// If a file cannot be downloaded or written, or differs from the hub's description. The
    /// message is one line.
    pub fn fetch(&self, show: &Show) -> Result<PathBuf> {
        let missing = self.files().map(|file| file.size - file.present).sum();
        self.store.check_space(missing)?;
        for file in &self.files {
            blob::download(&self.hub, &self.store, file, show)?;
        }
        for file in &self.files {
            self.store.link(&self.commit, file)?;
        }
        self.store.write_ref(self.name.revision(), &self.commit)?;
        find(self.name, &self.settings.cache)
    }
}

/// Downloads a model, or finds it in the cache if the settings forbid the network. Returns its
/// path.
///
/// # Errors
/// If [`Plan::new`] or [`Plan::fetch`] fails, or if the network is forbidden and the cache lacks
/// the model.
pub fn fetch(name: &Name, settings: &Settings, show: &Show) -> Result<PathBuf> {
    if settings.offline {
        return find(name, &settings.cache)
            .map_err(|e| anyhow!("{e:#}"))
            .context("HF_HUB_OFFLINE is set");
    }
    Plan::new(name, settings, show)?.fetch(show)
}
