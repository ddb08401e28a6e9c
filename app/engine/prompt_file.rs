//! A file with a prompt's keys and values (week 3, day 5). If such a file cannot be read or
//! written, a line is printed to standard error, and the answer is computed without it. A file of
//! another kind is refused immediately, because saving would replace it.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use tiny_llm::{
    week2::{
        cache::{CacheType, KvCache},
        generate::Session,
    },
    week3::{
        from_words::FromWords,
        prompt_file::{MAGIC, PromptKey, encode, fingerprint, open, save},
    },
};

/// A file with a prompt's keys and values, and what is known about the file.
pub(super) struct PromptFile {
    path: PathBuf,
    key: PromptKey,
    /// The tokens in the file. `None` until the file has been read or written.
    tokens: Option<Vec<u32>>,
    /// How many tokens of the last prompt were restored from the file, and how many tokens it has.
    restored: (usize, usize),
    writable: bool,
}

impl PromptFile {
    /// Returns the prompt file at `path` for the session's model. The file need not exist yet.
    /// `how` describes how the model is run.
    ///
    /// # Errors
    /// If the file at `path` is of another kind.
    pub(super) fn new(
        path: &Path,
        session: &Session,
        cache_type: CacheType,
        how: &str,
    ) -> Result<Self> {
        ensure!(
            may_be_replaced(path),
            "{}: not a prompt cache (the file does not begin with \"{}\"), so it was left \
             unchanged; give another name",
            path.display(),
            MAGIC.escape_ascii()
        );
        let fingerprint = fingerprint(&session.model, how);
        let key = PromptKey::new(fingerprint, cache_type, session.cache().shape());
        Ok(Self { path: path.to_owned(), key, tokens: None, restored: (0, 0), writable: true })
    }

    /// Restores the prefix that `prompt` shares with the file's prompt, unless the session's cache
    /// already has a prefix of at least this length. Reads the file only the first time.
    pub(super) fn restore(&mut self, session: &mut Session, prompt: &[u32]) {
        self.restored = (0, prompt.len());
        if self.tokens.is_some() {
            return;
        }
        let known = session.tokens().iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let opened = open(&self.path, self.key, |file| {
            let n = file.in_common(prompt).min(session.cache().shape().capacity);
            if n > known {
                session.restore(&prompt[..n], |cache| file.restore(&mut FromWords(cache), 0, n));
                self.restored.0 = n;
            }
            file.tokens.clone()
        });
        self.tokens = Some(match opened {
            Ok(tokens) => tokens.unwrap_or_default(),
            Err(error) => {
                eprintln!("{error:#}; computing the whole prompt instead");
                // If the path is not a file, for example a folder, nothing is saved there.
                self.writable = self.path.is_file();
                Vec::new()
            }
        });
    }

    /// Saves the prompt's keys and values, unless they are already in the file.
    pub(super) fn save(&mut self, session: &Session, prompt: &[u32]) {
        let has = self.tokens.as_ref().is_some_and(|tokens| tokens.starts_with(prompt));
        if has || !self.writable || !session.tokens().starts_with(prompt) {
            return;
        }
        match save(&self.path, &encode(session.cache(), 0, prompt, self.key)) {
            Ok(()) => self.tokens = Some(prompt.to_vec()),
            Err(error) => eprintln!("{error:#}; the prompt's keys and values were not saved"),
        }
    }

    /// Describes how much of the last prompt was restored from the file.
    pub(super) fn savings(&self) -> String {
        let (restored, all) = self.restored;
        format!("{restored} of {all} prompt tokens from {}", self.path.display())
    }
}

/// Returns whether a prompt file may be written at `path`: the file there is empty or a prompt
/// file, or there is no file. Also returns true if `path` cannot be read, because `restore` reports
/// that.
fn may_be_replaced(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = File::open(path).ok().filter(|_| path.is_file());
    let Some(file) = file else { return true };
    let read = file.take(MAGIC.len() as u64).read_to_end(&mut start);
    read.is_err() || start.is_empty() || start == MAGIC
}
