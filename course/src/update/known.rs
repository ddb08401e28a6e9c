//! The known original files of the course. Any other content is a change by the learner.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{json, source::normalise};

/// Path of the record of the last update, relative to the repository.
pub(super) const RECORD: &str = ".course/course.json";

#[derive(Debug, Default)]
pub(super) struct Record {
    /// The commit of the course that the update installed, if known.
    pub(super) commit: Option<String>,
    /// The hash of every file except the stubs, by path.
    pub(super) files: BTreeMap<String, String>,
}

impl Record {
    /// Reads the record of the last update. If there was no update, returns an empty record.
    pub(super) fn read(root: &Path) -> Result<Self> {
        match fs::read(root.join(RECORD)) {
            Ok(text) => Self::parse(&text).with_context(|| {
                format!("{RECORD} is malformed; if you cannot repair it, remove it")
            }),
            Err(_) => Ok(Self::default()),
        }
    }

    fn parse(text: &[u8]) -> Result<Self> {
        let file: Value = serde_json::from_slice(text)?;
        let mut files = BTreeMap::new();
        for (path, hash) in json::fields(&file["files"])? {
            let hash = hash.as_str().with_context(|| format!("{path} has no hash"))?;
            files.insert(path.clone(), hash.to_owned());
        }
        Ok(Self { commit: json::optional_text(&file, "commit")?.map(str::to_owned), files })
    }

    pub(super) fn text(&self) -> String {
        format!("{:#}", json!({ "commit": self.commit, "files": self.files }))
    }
}

/// The original files of several versions of the course: their hashes by path, for each version.
#[derive(Debug)]
pub(super) struct Known(pub(super) Vec<BTreeMap<String, String>>);

impl Known {
    /// Returns the paths of the files of all known versions.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flat_map(BTreeMap::keys)
    }

    /// Returns whether a known version has a file with this path and content. Ignores differences
    /// in line ends.
    pub(super) fn had(&self, path: &str, content: &[u8]) -> bool {
        let unix = str::from_utf8(content).map(|text| hash(normalise(text).as_bytes()));
        let hashes = [Some(hash(content)), unix.ok()];
        self.0
            .iter()
            .filter_map(|files| files.get(path))
            .any(|known| hashes.iter().flatten().any(|hash| hash == known))
    }
}

/// Returns the hash that git computes for a file with this content.
pub(super) fn hash(content: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(format!("blob {}\0", content.len()).as_bytes());
    hash.update(content);
    hash.digest().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_matches_git() {
        assert_eq!(hash(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
