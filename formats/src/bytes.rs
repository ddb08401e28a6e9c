//! Immutable bytes that are shared without copying, such as a mapped file or a part of one.

#![allow(unsafe_code, reason = "mapping a file is unsafe, and is done here alone")]

use std::{
    fmt,
    fs::File,
    ops::{Deref, Range},
    path::Path,
    sync::Arc,
};

use anyhow::{Result, anyhow, ensure};
use memmap2::{Mmap, MmapMut};

/// A range of bytes that belong to an owner, such as a mapped file. The owner lives as long as any
/// `Bytes` refers to it. Cloning or slicing increments a reference count and copies nothing.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl Bytes {
    /// Maps a file. Its pages are read when they are accessed. The file must not be shortened or
    /// rewritten while it is in use: on most systems, a process that reads a page beyond the file's
    /// end is killed (`SIGBUS`).
    ///
    /// # Errors
    /// If the file cannot be opened or mapped, or is not a regular file.
    pub fn map(path: &Path) -> Result<Self> {
        Ok(Self::of(Arc::new(map_file(path)?)))
    }

    /// Allocates `len` bytes and lets `fill` write them. On Linux, asks the system for pages of 2
    /// MiB instead of 4 KiB (huge pages). The processor keeps page addresses in a small table, the
    /// TLB. With small pages, it has too few entries for all weights.
    ///
    /// # Errors
    /// If the system cannot allocate the memory.
    pub fn in_huge_pages(len: usize, fill: impl FnOnce(&mut [u8])) -> Result<Self> {
        let mut memory = MmapMut::map_anon(len)
            .map_err(|e| anyhow!("not enough memory for a copy of {len} bytes of weights: {e}"))?;
        #[cfg(target_os = "linux")]
        // A failure is ignored: ordinary pages also work.
        let _ = memory.advise(memmap2::Advice::HugePage);
        fill(&mut memory);
        Ok(Self::of(Arc::new(memory)))
    }

    /// Creates a `Bytes` of all bytes of `owner`.
    #[must_use]
    pub fn of(owner: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        let range = 0..(*owner).as_ref().len();
        Self { owner, range }
    }

    /// Returns the part at `range`, counted from the start of these bytes.
    ///
    /// # Errors
    /// If the range is outside the bytes.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        ensure!(
            range.start <= range.end && range.end <= self.len(),
            "found the range {}..{}, expected a range within 0..{}",
            range.start,
            range.end,
            self.len()
        );
        Ok(Self {
            owner: Arc::clone(&self.owner),
            range: self.range.start + range.start..self.range.start + range.end,
        })
    }

    /// Asks the system to load all of these bytes, because they are needed soon. Without this call,
    /// the system maps a page of a file only when that page or a neighbour is first accessed. Until
    /// then, prefetch instructions for that page have no effect. Does nothing if the system does
    /// not support this request or refuses it.
    pub fn bring_in(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: the bytes exist as long as `self` does, and reading them changes nothing. The
        // call requires an address at the start of a page, so the range begins with the page that
        // holds the first byte.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize;
            let before = self.as_ptr() as usize % page;
            let start = self.as_ptr().wrapping_sub(before).cast_mut();
            libc::madvise(start.cast(), before + self.len(), libc::MADV_POPULATE_READ);
        }
    }

    /// Returns all bytes of the owner, such as the whole file of which these bytes are a part.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::of(Arc::clone(&self.owner))
    }

    /// Returns the offset of these bytes within the owner's bytes.
    #[must_use]
    pub fn start(&self) -> usize {
        self.range.start
    }
}

/// Maps a file, as [`Bytes::map`] does.
pub(crate) fn map_file(path: &Path) -> Result<Mmap> {
    let open = || -> std::io::Result<Mmap> {
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let file = File::open(path)?;
        // SAFETY: the map is read-only and only ever exposed as `&[u8]`, for which every value is
        // valid. Another process could still shorten or rewrite the file. The documentation of
        // `Bytes::map` forbids that, but no engine that maps its weights can prevent it.
        unsafe { Mmap::map(&file) }
    };
    open().map_err(|e| anyhow!("{}: cannot be read: {e}", path.display()))
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
