//! The file of answers: one line per request, in order. If a run was stopped, the next run
//! continues the file.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Result, anyhow, ensure};
use serde_json::Value;

use super::super::output::note;
use tiny_llm_formats::unfinished::cannot_be_written;

/// An open file of answers. Writes the answers in the order of their requests, each as soon as all
/// earlier ones are written. If the run is stopped, only unwritten answers are lost.
pub(super) struct Answers {
    path: PathBuf,
    file: File,
    /// Number of lines in the file.
    written: usize,
    /// Lines that wait for the line of an earlier request, by request index.
    early: BTreeMap<usize, String>,
}

/// Returns the beginning of the line that answers request `index`.
fn head(index: usize) -> String {
    format!("{{\"index\":{index},")
}

impl Answers {
    /// Opens the file of answers at `path`, or creates it. Removes an incomplete last line.
    ///
    /// # Errors
    /// If the file cannot be written or another run is writing it. Also if it contains anything
    /// other than answers in order.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        let wrong = |e: &std::io::Error| cannot_be_written(path, e);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| wrong(&e))?;
        ensure!(
            file.metadata().map_err(|e| wrong(&e))?.is_file(),
            "{name}: found a device or a pipe, expected the name of a file"
        );
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                anyhow::bail!("{name}: another run is writing this file; wait until that run ends")
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut written = 0;
        for line in bytes[..whole].split_inclusive(|&byte| byte == b'\n') {
            let answer = serde_json::from_slice::<Value>(line).ok();
            let index = answer.as_ref().and_then(|answer| answer["index"].as_u64());
            ensure!(
                index == Some(written as u64),
                "{name}:{}: expected the answer with \"index\": {written}; to start over, remove \
                 the file",
                written + 1
            );
            written += 1;
        }
        // Checks the incomplete last line before writing anything, because a file that is not a
        // list of answers must not be changed.
        let (half, expected) = (&bytes[whole..], head(written));
        if !half.is_empty() {
            let n = half.len().min(expected.len());
            ensure!(
                half[..n] == expected.as_bytes()[..n],
                "{name}:{}: expected the answer with \"index\": {written}; to start over, remove \
                 the file",
                written + 1
            );
            let n = half.len();
            note(&format!("{name}: removed {n} bytes of an incomplete answer"));
            file.set_len(whole as u64).map_err(|e| wrong(&e))?;
        }
        file.seek(SeekFrom::End(0)).map_err(|e| wrong(&e))?;
        Ok(Self { path: path.to_owned(), file, written, early: BTreeMap::new() })
    }

    /// Returns how many answers are in the file.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Returns the number of known answers: those in the file, and those that wait for an earlier
    /// one.
    pub(super) fn known(&self) -> usize {
        self.written + self.early.len()
    }

    /// Adds the answer to request `index`. `fields` are the fields of its line, except the index.
    /// Then writes every line for which no earlier line is missing.
    pub(super) fn put(&mut self, index: usize, fields: &[(&str, Value)]) -> Result<()> {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        self.early.insert(index, format!("{}{}}}\n", head(index), fields.join(",")));
        while let Some(line) = self.early.remove(&self.written) {
            let written = self.file.write_all(line.as_bytes());
            written.map_err(|e| cannot_be_written(&self.path, &e))?;
            self.written += 1;
        }
        Ok(())
    }
}
