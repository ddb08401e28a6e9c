//! Finds models by name in the cache that Hugging Face's tools share.
//!
//! A name is `OWNER/NAME[@REVISION][:FILE]`. REVISION is a branch, a tag or a commit, by default
//! `main`. FILE is a GGUF file, or the type at the end of such a file's name: `Q4_K_M`.
//!
//! The cache is documented at <https://huggingface.co/docs/huggingface_hub/guides/manage-cache>.
//! The folder of a repository is `models--OWNER--NAME`. In it, `refs/REVISION` holds a commit, and
//! `snapshots/COMMIT` holds links to the contents in `blobs`.

mod find;
mod place;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Result, bail, ensure};

pub use find::{OPTIONAL, REQUIRED, find, locate};
pub use place::{cache, cache_of};

/// The revision that is used if a model's name does not specify one.
pub const MAIN: &str = "main";

/// The name of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    owner: String,
    repository: String,
    revision: Option<String>,
    file: Option<Part>,
}

/// How the FILE of a name selects a GGUF file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Selects the GGUF file at this path, which may be in a subfolder.
    File(String),
    /// Selects the only GGUF file whose name ends in this type, in upper or lower case.
    Type(String),
}

/// The files of a repository that a name selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The model of `config.json` and safetensors files.
    Folder,
    /// This GGUF file.
    File(&'a str),
    /// Nothing: no file matches the name.
    Nothing,
}

impl Name {
    /// Returns the name of the branch, tag or commit, [`MAIN`] by default.
    #[must_use]
    pub fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or(MAIN)
    }

    /// Returns this name with its revision set to `revision`: a branch, a tag or a commit.
    ///
    /// # Errors
    /// If `revision` cannot be the name of a branch, a tag or a commit.
    pub fn at(mut self, revision: &str) -> Result<Self> {
        ensure!(
            is_plain(revision),
            "found revision {revision:?}, expected a branch, a tag or a commit"
        );
        self.revision = Some(revision.to_owned());
        Ok(self)
    }

    /// Returns the FILE of the name, or `None` if the name has none.
    #[must_use]
    pub fn file(&self) -> Option<&Part> {
        self.file.as_ref()
    }

    /// Returns the repository's name in the hub's addresses, `OWNER/NAME`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.owner, self.repository)
    }

    /// Returns the repository's folder in the cache, which contains `blobs`, `refs` and
    /// `snapshots`.
    #[must_use]
    pub fn folder(&self, cache: &Path) -> PathBuf {
        cache.join(format!("models--{}--{}", self.owner, self.repository))
    }

    /// Selects the files that the name refers to. `files` are the paths of all files of a revision,
    /// with `/` between folders.
    ///
    /// # Errors
    /// If several GGUF files match, or if all matches are parts of a model that is split into
    /// several files. The engines can't read split files. The message is one line.
    pub fn choose<'a>(&self, files: &[&'a str]) -> Result<Choice<'a>> {
        let ggufs = files.iter().copied().filter(|file| is_gguf(file));
        let fitting: Vec<&str> = match &self.file {
            Some(Part::File(wanted)) => ggufs.filter(|file| file == wanted).collect(),
            Some(Part::Type(wanted)) => ggufs.filter(|file| has_type(file, wanted)).collect(),
            None if files.iter().any(|file| is_weights(file)) => return Ok(Choice::Folder),
            None => ggufs.collect(),
        };
        let whole: Vec<&str> =
            fitting.iter().copied().filter(|file| parts(file).is_none()).collect();
        match (&whole[..], fitting.first()) {
            ([file], _) => Ok(Choice::File(file)),
            ([], None) => Ok(Choice::Nothing),
            ([], Some(first)) => bail!(
                "{self}: found {first}, one of {} parts, expected a GGUF file in one part \
                 (llama-gguf-split --merge joins the parts)",
                parts(first).unwrap_or_default()
            ),
            _ => bail!(
                "{self}: found {} GGUF files; add :FILE, where FILE is one of {}",
                whole.len(),
                whole.join(", ")
            ),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.repository)?;
        if let Some(revision) = &self.revision {
            write!(f, "@{revision}")?;
        }
        match &self.file {
            Some(Part::File(part) | Part::Type(part)) => write!(f, ":{part}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Name {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        // Neither a repository's name nor a revision contains a colon.
        let (rest, file) = match text.split_once(':') {
            Some((rest, file)) => (rest, Some(part(file)?)),
            None => (text, None),
        };
        let (id, revision) = match rest.split_once('@') {
            Some((id, revision)) => (id, Some(revision)),
            None => (rest, None),
        };
        let id = id.split_once('/').filter(|(owner, name)| is_word(owner) && is_word(name));
        let Some((owner, repository)) = id else {
            bail!("expected OWNER/NAME[@REVISION][:FILE]");
        };
        let name = Self {
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            revision: None,
            file,
        };
        match revision {
            Some(revision) => name.at(revision),
            None => Ok(name),
        }
    }
}

fn part(text: &str) -> Result<Part> {
    if is_gguf(text) && is_plain(text) {
        return Ok(Part::File(text.to_owned()));
    }
    // Q4_K_M, IQ4_XS, BF16, MXFP4, UD-Q4_K_XL
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    ensure!(
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.contains(|c: char| c.is_ascii_digit())
            && text.chars().all(letters),
        "found file {text:?}, expected a name that ends in .gguf, or a type such as Q4_K_M"
    );
    Ok(Part::Type(text.to_owned()))
}

/// Returns whether the hub allows `text` as the name of an owner or of a repository.
fn is_word(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 96
        && text.starts_with(letter)
        && text.ends_with(letter)
        && text.chars().all(|c| letter(c) || c == '-' || c == '.')
        && !["--", ".."].iter().any(|pair| text.contains(pair))
        && !text.ends_with(".git")
}

/// Returns whether a path stays in its folder on every system.
pub(super) fn is_plain(path: &str) -> bool {
    let wrong = |c: char| c.is_control() || c.is_whitespace() || "\\:*?\"<>|".contains(c);
    path.len() <= 255
        && !path.contains(wrong)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn is_gguf(file: &str) -> bool {
    stem(file).is_some()
}

/// Returns a name without the ending `.gguf`. Returns `None` if the name does not have this ending,
/// or consists of nothing else.
fn stem(file: &str) -> Option<&str> {
    let (stem, end) = file.split_at_checked(file.len().checked_sub(".gguf".len())?)?;
    (!stem.is_empty() && end.eq_ignore_ascii_case(".gguf")).then_some(stem)
}

/// Returns whether a file holds weights of a model folder, or is the index of such files.
fn is_weights(file: &str) -> bool {
    file.ends_with(".safetensors") && !file.contains('/') || file == find::INDEX
}

/// Returns how many parts a model is split into, from a file name such as
/// `NAME-00001-of-00003.gguf`. Returns `None` for other names.
fn parts(file: &str) -> Option<u32> {
    let (rest, count) = stem(file)?.rsplit_once("-of-")?;
    let (_, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|c| c.is_ascii_digit());
    (digits(number) && digits(count)).then(|| count.parse().ok()).flatten()
}

/// Returns whether a GGUF file's name ends in this type, as in `smollm2-360m-instruct-q8_0.gguf`.
fn has_type(file: &str, wanted: &str) -> bool {
    let Some(mut stem) = stem(file) else { return false };
    if parts(file).is_some() {
        stem = &stem[..stem.len() - "-00001-of-00003".len()];
    }
    let split = stem.len().checked_sub(wanted.len()).and_then(|at| stem.split_at_checked(at));
    split.is_some_and(|(before, end)| {
        end.eq_ignore_ascii_case(wanted)
            && (before.is_empty() || before.ends_with(['-', '.', '_', '/']))
    })
}
