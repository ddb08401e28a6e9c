//! Computes a key from everything that the reference's activations depend on. Activations from an
//! earlier run are still valid if they have the same key.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};

use super::options::Options;

/// Files and folders from which the reference program is built, relative to the repository.
const SOURCES: [&str; 10] = [
    "reference",
    "provided",
    "kernels",
    "formats",
    "schema",
    "cli",
    "src/lib.rs",
    "app",
    "Cargo.toml",
    "Cargo.lock",
];

/// Computes the key: a number that depends on the contents of the reference's sources, on the
/// input, and on the names, sizes and times of the model's files. If `model` is a name and not a
/// path, each call returns a different key.
pub(super) fn key(root: &Path, model: &Path, options: &Options) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        for path in files(&root.join(source))? {
            path.hash(&mut hasher);
            fs::read(&path)
                .with_context(|| format!("{} cannot be read", path.display()))?
                .hash(&mut hasher);
        }
    }
    for path in files(model)? {
        let data =
            fs::metadata(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        (&path, data.len(), data.modified().ok()).hash(&mut hasher);
    }
    if !model.exists() {
        // The name may refer to a different model in each run.
        SystemTime::now().hash(&mut hasher);
    }
    (model, options.prompt(), &options.tokens).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Removes the files in `folder` that contain the reference's activations of earlier runs.
pub(super) fn clear(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("reference-") {
            // If a file remains, it only wastes space.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns `path` if it is a file, or all files in the folder `path`, sorted.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(if path.exists() { vec![path.to_owned()] } else { Vec::new() });
    }
    let mut found = Vec::new();
    for entry in
        fs::read_dir(path).with_context(|| format!("{} cannot be listed", path.display()))?
    {
        found.extend(files(&entry?.path())?);
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{repository, write};

    #[test]
    fn key_depends_on_sources_model_and_input() {
        let repository = repository();
        let root = repository.path();
        write(root, "models/m/config.json", "{}");
        let options =
            |prompt: &str| Options { prompt: Some(prompt.to_owned()), tokens: None, model: None };
        let key = |prompt: &str| key(root, &root.join("models/m"), &options(prompt)).unwrap();
        let first = key("a");
        assert_eq!(key("a"), first);
        assert_ne!(key("b"), first);
        write(root, "src/week1/a.rs", "a learner's edit");
        assert_eq!(key("a"), first, "the reference does not use the learner's files");
        write(root, "models/m/config.json", "{ }");
        let second = key("a");
        assert_ne!(second, first);
        write(root, "reference/src/week1/b.rs", "pub fn three() {}\n");
        assert_ne!(key("a"), second);
    }
}
