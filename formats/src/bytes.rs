//! Bytes shared by several owners without a copy: a mapped file, or part of one.

#![allow(
    unsafe_code,
    reason = "mapping a file is unsafe, and is done here and in `checkpoint` alone"
)]

use std::{
    fmt,
    fs::File,
    ops::{Deref, Range},
    path::Path,
    sync::Arc,
};

use anyhow::{Result, anyhow, ensure};
use memmap2::Mmap;

/// A piece of memory that lives as long as someone holds it. Cloning or slicing costs a counter,
/// not a copy.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl Bytes {
    /// Maps a file; its pages are read when they are looked at. A file in use is not to be
    /// shortened or rewritten meanwhile: on most systems a process that reads a page which is no
    /// longer in the file is ended by the system (`SIGBUS`).
    ///
    /// # Errors
    /// If the file cannot be opened, or is not a regular file.
    pub fn map(path: &Path) -> Result<Self> {
        let open = || -> std::io::Result<Mmap> {
            if !std::fs::metadata(path)?.is_file() {
                return Err(std::io::Error::other("not a regular file"));
            }
            let file = File::open(path)?;
            // SAFETY: the map is read-only, never handed out but as `&[u8]`, of which every value
            // is valid. What remains is that another process may shorten or rewrite the file; the
            // documentation above forbids it, as does every engine that maps its weights.
            unsafe { Mmap::map(&file) }
        };
        let map = open().map_err(|e| anyhow!("{}: cannot be read: {e}", path.display()))?;
        Ok(Self::of(Arc::new(map)))
    }

    /// All bytes of an owner.
    #[must_use]
    pub fn of(owner: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        let range = 0..(*owner).as_ref().len();
        Self { owner, range }
    }

    /// The part at `range`, counted from the start of these bytes.
    ///
    /// # Errors
    /// If the range is outside the bytes.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        ensure!(
            range.start <= range.end && range.end <= self.len(),
            "found bytes {} to {}, expected a place within {} bytes",
            range.start,
            range.end,
            self.len()
        );
        Ok(Self {
            owner: Arc::clone(&self.owner),
            range: self.range.start + range.start..self.range.start + range.end,
        })
    }

    /// Asks the system for all of these bytes at once, because they are all wanted soon. A mapped
    /// file has its pages entered one by one as they are looked at, and what a kernel asks for ahead
    /// of time is lost on a page that isn't there yet. Where the system has no such call, or
    /// refuses it, that stays so.
    pub fn bring_in(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: the bytes are there as long as `self` is, and reading them changes nothing. The
        // call wants the start of a page, which these bytes lie in.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize;
            let before = self.as_ptr() as usize % page;
            let start = self.as_ptr().wrapping_sub(before).cast_mut();
            libc::madvise(start.cast(), before + self.len(), libc::MADV_POPULATE_READ);
        }
    }

    /// All bytes of the owner: the whole file of which these are a part.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::of(Arc::clone(&self.owner))
    }

    /// Where these bytes begin among all of the owner's.
    #[must_use]
    pub fn start(&self) -> usize {
        self.range.start
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &(*self.owner).as_ref()[self.range.clone()]
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::of(Arc::new(bytes))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}
