//! Selects the files of a repository that a model needs.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use tiny_llm_formats::{
    checkpoint,
    hub::{Choice, Name, OPTIONAL, REQUIRED},
};

/// The file that every program expects in a model folder.
pub(crate) const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// Optional files that only other programs read.
const OTHERS: [&str; 2] = ["added_tokens.json", "special_tokens_map.json"];
/// Maximum number of file names in a message.
const SHOWN: usize = 20;

/// The files that a model's name selects.
pub(crate) enum Wanted<'a> {
    /// One GGUF file.
    File(&'a str),
    /// A model folder.
    Folder {
        /// The weights, or their index.
        weights: &'a str,
        /// The other files, except `config.json`, which must appear last.
        rest: Vec<&'a str>,
    },
}

/// Returns whether a file is the index of sharded weights.
pub(crate) fn is_index(file: &str) -> bool {
    file == INDEX
}

/// Selects the files that the model `name` needs. `files` are all files of the repository.
pub(crate) fn wanted<'a>(name: &Name, files: &'a [String]) -> Result<Wanted<'a>> {
    let there: Vec<&str> = files.iter().map(String::as_str).collect();
    let expected = match name.choose(&there)? {
        Choice::File(file) => {
            // A file's path must not lead out of its folder, here or in the cache.
            let selected: Result<Name> = format!("{}:{file}", name.id()).parse();
            ensure!(
                selected.is_ok(),
                "{name}: found file {file:?}, expected a relative path without spaces, `..` or \
                 special characters"
            );
            return Ok(Wanted::File(file));
        }
        Choice::Nothing => match name.file() {
            Some(_) => "such GGUF file",
            None => "model.safetensors or GGUF file",
        },
        Choice::Folder => match folder(&there) {
            Ok(wanted) => return Ok(wanted),
            Err(missing) => missing,
        },
    };
    bail!("{name}: no {expected} in the repository, which has {}", named(&there))
}

/// Selects the files of a model folder from `there`, the repository's files. If a required file is
/// missing, returns its name.
fn folder<'a>(there: &[&'a str]) -> Result<Wanted<'a>, &'static str> {
    let find = |wanted: &str| there.iter().copied().find(|file| *file == wanted);
    let weights = find(WEIGHTS).or_else(|| find(INDEX)).ok_or(WEIGHTS)?;
    let mut rest: Vec<&str> = OPTIONAL.into_iter().chain(OTHERS).filter_map(find).collect();
    for required in REQUIRED {
        let file = find(required).ok_or(required)?;
        if file != CONFIG {
            rest.push(file);
        }
    }
    Ok(Wanted::Folder { weights, rest })
}

/// Returns the files of sharded weights that `index` lists. All of them must be in `files`.
pub(crate) fn shards(name: &Name, index: &Path, files: &[String]) -> Result<Vec<String>> {
    let shards = checkpoint::shards(index).context(format!("{name}: {INDEX}"))?;
    ensure!(!shards.is_empty(), "{name}: {INDEX} lists no tensors");
    match shards.iter().find(|shard| !files.contains(shard)) {
        None => Ok(shards.into_iter().collect()),
        Some(missing) => {
            Err(anyhow!("{name}: {INDEX} lists {missing}, which the repository lacks"))
        }
    }
}

/// Formats a list of names. Shows only the first [`SHOWN`] names of a longer list.
fn named(files: &[&str]) -> String {
    let mut text = files.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if files.len() > SHOWN {
        text += &format!(" and {} more", files.len() - SHOWN);
    }
    if text.is_empty() { "none".to_owned() } else { text }
}
