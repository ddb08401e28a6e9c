//! The hash that names a file's content. The hub sends it as the ETag.

use sha1_smol::Sha1;
use sha2::{Digest, Sha256};

/// A hash in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hash {
    /// SHA-256 of the content of a large file.
    Sha256(String),
    /// Hash of a file that is stored in Git: SHA-1 of a header and the content.
    Git(String),
}

impl Hash {
    /// Parses an ETag.
    pub(crate) fn of_etag(etag: &str) -> Option<Self> {
        let text = etag.trim().trim_start_matches("W/").trim_matches('"');
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match text.len() {
            64 if digits => Some(Self::Sha256(text.to_owned())),
            40 if digits => Some(Self::Git(text.to_owned())),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        let (Self::Sha256(text) | Self::Git(text)) = self;
        text
    }

    /// Creates a hasher of the same kind, for a file of `size` bytes.
    pub(crate) fn hasher(&self, size: u64) -> Hasher {
        match self {
            Self::Sha256(_) => Hasher::Sha256(Sha256::new()),
            Self::Git(_) => Hasher::Git(Sha1::from(format!("blob {size}\0"))),
        }
    }
}

/// Computes a hash from a file's bytes in order.
pub(crate) enum Hasher {
    Sha256(Sha256),
    Git(Sha1),
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Git(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Hash {
        match self {
            Self::Sha256(hasher) => {
                Hash::Sha256(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
            }
            Self::Git(hasher) => Hash::Git(hasher.digest().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_sha256sum_and_git() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        // printf abc | git hash-object --stdin
        let git = "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f";
        for etag in [abc, git] {
            let hash = Hash::of_etag(&format!("W/\"{etag}\"")).expect("a hash");
            let mut hasher = hash.hasher(3);
            hasher.update(b"a");
            hasher.update(b"bc");
            assert_eq!(hasher.finish(), hash);
        }
        for wrong in
            ["", "\"..\"", "../../../../../../../etc/passwd", &abc[1..], &git.to_uppercase()]
        {
            assert_eq!(Hash::of_etag(wrong), None, "{wrong}");
        }
    }
}
