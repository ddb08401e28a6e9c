//! Finds the path of a model in the cache, if all its files are there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, anyhow, bail, ensure};

use super::{Choice, Name, cache, is_plain};
use crate::checkpoint::shards;

/// Files that every model folder needs in addition to its weights.
pub const REQUIRED: [&str; 2] = ["config.json", "tokenizer.json"];
/// Files that are read if a repository has them.
pub const OPTIONAL: [&str; 3] =
    ["generation_config.json", "tokenizer_config.json", "chat_template.jinja"];

/// Name of the file with the weights, if all weights are in one file.
const WEIGHTS: &str = "model.safetensors";
/// Name of the file that lists the files with the weights.
pub(super) const INDEX: &str = "model.safetensors.index.json";
/// Maximum depth of nested folders that are searched.
const DEPTH: usize = 4;

/// Returns the path of a model: `model` itself if that path exists, otherwise the path of the model
/// of this name in the cache.
///
/// # Errors
/// If neither exists, or the cached model is incomplete. The message is one line that says what was
/// searched for. If `model` is a model's name, the message also names the searched folder and the
/// command that fetches the model.
pub fn locate(model: &Path) -> Result<PathBuf> {
    if fs::symlink_metadata(model).is_ok() {
        return Ok(model.to_owned());
    }
    let shown = model.display();
    // A model's name can end in `.gguf` only after a colon.
    let text = model.to_string_lossy();
    ensure!(!super::is_gguf(&text) || text.contains(':'), "{shown}: no such file or folder");
    let name: Name = text.parse().map_err(|e| {
        anyhow!("{shown}: no such file or folder, and the path is not a model's name: {e}")
    })?;
    find(&name, &cache()?)
}

/// Returns the folder or the GGUF file of a model, if the cache has all files that the model needs.
///
/// # Errors
/// If the model, its revision or a file is missing, a file is incomplete, or its link is broken.
/// Also if several files match the name. The message is one line: what is wrong, and the command to
/// run or the name to use.
pub fn find(name: &Name, cache: &Path) -> Result<PathBuf> {
    let folder = name.folder(cache);
    let fetch = || format!("`cargo llm fetch {name}` fetches it");
    ensure!(
        folder.is_dir(),
        "{name}: no such file or folder, and no such model in {}; {}",
        cache.display(),
        fetch()
    );
    let revision = name.revision();
    let commit = match fs::read_to_string(folder.join("refs").join(revision)) {
        Ok(commit) => commit.trim().to_owned(),
        Err(_) => revision.to_owned(),
    };
    let snapshot = folder.join("snapshots").join(&commit);
    ensure!(
        is_plain(&commit) && !commit.contains('/') && snapshot.is_dir(),
        "{name}: found no revision {revision} in {}; {}",
        folder.display(),
        fetch()
    );
    let missing = |file: &str| {
        anyhow!("{name}: {file} is missing or incomplete in {}; {}", snapshot.display(), fetch())
    };
    let mut files = Vec::new();
    list(&snapshot, "", DEPTH, &mut files);
    files.sort_unstable();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let whole =
        |file: &str| if is_whole(&snapshot.join(file)) { Ok(()) } else { Err(missing(file)) };
    match name.choose(&files)? {
        Choice::File(file) => {
            whole(file)?;
            return Ok(snapshot.join(file));
        }
        Choice::Nothing if name.file.is_some() => {
            let ggufs: Vec<&str> = files.into_iter().filter(|f| super::is_gguf(f)).collect();
            let there = if ggufs.is_empty() { "none".to_owned() } else { ggufs.join(", ") };
            bail!("{name}: no such GGUF file; {} has {there}; {}", snapshot.display(), fetch());
        }
        Choice::Nothing | Choice::Folder => (),
    }
    for file in REQUIRED {
        whole(file)?;
    }
    for file in OPTIONAL.into_iter().filter(|file| files.contains(file)) {
        whole(file)?;
    }
    if files.contains(&WEIGHTS) || !files.contains(&INDEX) {
        whole(WEIGHTS)?;
    } else {
        whole(INDEX)?;
        for file in shards(&snapshot.join(INDEX))? {
            whole(&file)?;
        }
    }
    Ok(snapshot)
}

/// Returns whether a path is a completely downloaded file, or a link to one.
fn is_whole(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| {
        path.is_file() && path.extension().is_none_or(|extension| extension != "incomplete")
    })
}

/// Appends the paths of the files and links below a folder to `files`, with `/` between folders.
/// Each path begins with `prefix`. Searches `depth` levels of subfolders.
fn list(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => {
                list(&entry.path(), &format!("{name}/"), depth - 1, files);
            }
            Ok(kind) if !kind.is_dir() => files.push(name),
            _ => (),
        }
    }
}
