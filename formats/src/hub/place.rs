//! Finds the cache's folder in the same way as the Python module `huggingface_hub.constants`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Returns the folder of Hugging Face's cache. It may not exist.
///
/// # Errors
/// If no environment variable names the folder, and the user has no home folder.
pub fn cache() -> Result<PathBuf> {
    cache_of(|name| std::env::var_os(name), std::env::home_dir().as_deref())
        .context("found no home folder: set HF_HUB_CACHE to the cache's folder")
}

/// Returns the folder of Hugging Face's cache. `home` is the user's home folder. `variable` returns
/// the value of an environment variable. An empty variable counts as absent.
pub fn cache_of(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
) -> Option<PathBuf> {
    let of = |name: &str| {
        let path = PathBuf::from(variable(name).filter(|value| !value.is_empty())?);
        match path.strip_prefix("~") {
            Ok(rest) => Some(home?.join(rest)),
            Err(_) => Some(path),
        }
    };
    of("HF_HUB_CACHE").or_else(|| of("HUGGINGFACE_HUB_CACHE")).or_else(|| {
        let shared = || of("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")));
        let home = of("HF_HOME").or_else(|| Some(shared()?.join("huggingface")))?;
        Some(home.join("hub"))
    })
}
