//! Downloads the content of one file, continuing where an earlier attempt ended.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    sync::mpsc::{channel, sync_channel},
    thread,
};

use anyhow::{Result, anyhow, bail};
use tiny_llm_formats::unfinished::cannot_be_written;

use crate::{
    hash::Hasher,
    hub::{ATTEMPTS, Hub, Remote},
    reply::{Failure, lost},
    show::{Progress, Show},
    store::Store,
};

/// Maximum size of a block, in bytes. A block is hashed while the next one arrives.
const BLOCK: usize = 1 << 18;
/// Maximum number of blocks that wait to be hashed.
const WAITING: usize = 16;
/// Number of bytes after which data is flushed to the disk while more arrives.
const FLUSH: u64 = 1 << 26;
/// Number of bytes that an attempt must receive to count as progress.
const PROGRESS: u64 = 1 << 20;

/// Downloads a blob (the content of a file), and checks its length and its hash. Does nothing if a
/// blob of the right length is already stored.
pub(crate) fn download(hub: &Hub, store: &Store, remote: &Remote, show: &Show) -> Result<()> {
    if store.has(remote) {
        return Ok(());
    }
    let _lock = store.lock(remote, show)?;
    // Another process may have completed it.
    if store.has(remote) {
        return Ok(());
    }
    let file = store.open_incomplete(&remote.hash)?;
    let mut part =
        Part { hub, store, remote, hasher: remote.hash.hasher(remote.size), file, have: 0 };
    let resumed = part.read_present()?;
    let mut progress = show.file(&remote.file, remote.size, part.have);
    if resumed {
        progress.note(&format!("resuming at byte {}", part.have));
    }
    part.complete(&mut progress)?;
    let mut found = part.take_hash();
    if found != remote.hash && resumed {
        // The bytes of an earlier attempt may be wrong, for example because of a full disk or a
        // power failure.
        progress.note("the hash is wrong: downloading again from the first byte");
        part.restart()?;
        part.complete(&mut progress)?;
        found = part.take_hash();
    }
    if found != remote.hash {
        let path = store.incomplete(&remote.hash);
        fs::remove_file(&path).map_err(|e| cannot_be_written(&path, &e))?;
        bail!("{}: found hash {}, expected {}", remote.file, found.text(), remote.hash.text());
    }
    store.finish(&remote.hash, &part.file)?;
    progress.done();
    Ok(())
}

/// The part of a blob that is on disk.
struct Part<'a> {
    hub: &'a Hub,
    store: &'a Store,
    remote: &'a Remote,
    file: File,
    /// The hash of the first `have` bytes.
    hasher: Hasher,
    have: u64,
}

impl Part<'_> {
    /// Hashes the bytes of an earlier attempt. Returns whether there are any.
    fn read_present(&mut self) -> Result<bool> {
        let path = self.store.incomplete(&self.remote.hash);
        let wrong = |e| anyhow!("{}: cannot be read: {e}", path.display());
        if self.file.metadata().map_err(wrong)?.len() > self.remote.size {
            self.restart()?;
        }
        let mut block = vec![0; BLOCK];
        loop {
            let read = self.file.read(&mut block).map_err(wrong)?;
            if read == 0 {
                return Ok(self.have > 0);
            }
            self.hasher.update(&block[..read]);
            self.have += read as u64;
        }
    }

    /// Removes all bytes from the file, so that the download begins again.
    fn restart(&mut self) -> Result<()> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map_err(|e| cannot_be_written(&self.store.incomplete(&self.remote.hash), &e))?;
        self.hasher = self.remote.hash.hasher(self.remote.size);
        self.have = 0;
        Ok(())
    }

    /// Downloads the missing bytes. Tries again if the connection is cut, or the server is busy or
    /// does not respond.
    fn complete(&mut self, progress: &mut Progress) -> Result<()> {
        let mut attempt = 0;
        while self.have < self.remote.size {
            let before = self.have;
            let error = match self.attempt(progress) {
                Ok(()) => continue,
                Err(Failure::Final(e)) => return Err(e),
                Err(Failure::Offline(e) | Failure::Passing(e)) => e,
            };
            if self.have >= before + PROGRESS {
                attempt = 0;
            }
            attempt += 1;
            let (file, have, size) = (&self.remote.file, self.have, self.remote.size);
            if attempt == ATTEMPTS {
                bail!("{file}: {error}; received {have} of {size} bytes; fetch again to continue");
            }
            progress.note(&format!("{error}; next attempt from byte {have}"));
            self.hub.pause(attempt);
        }
        Ok(())
    }

    /// Downloads until the blob is complete or the attempt fails.
    fn attempt(&mut self, progress: &mut Progress) -> Result<(), Failure> {
        let (begin, body) = self.hub.open(self.remote, self.have)?;
        if begin < self.have {
            self.restart().map_err(Failure::Final)?;
            progress.at(0);
        }
        let Self { remote, file, hasher, have, store, .. } = self;
        let mut file: &File = file;
        let unwritten = |e| Failure::Final(cannot_be_written(&store.incomplete(&remote.hash), &e));
        let mut body = body.into_reader();
        let (full, to_hash) = sync_channel::<(Vec<u8>, usize)>(WAITING);
        let (hashed, empty) = channel();
        let (flush, flushes) = sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                for (block, length) in to_hash {
                    hasher.update(&block[..length]);
                    // After the last block, the receiver is gone.
                    let _ = hashed.send(block);
                }
            });
            let flushed = scope.spawn(move || flushes.iter().try_for_each(|()| file.sync_data()));
            let mut receive = || {
                while *have < remote.size {
                    let mut block = empty.try_recv().unwrap_or_else(|_| vec![0; BLOCK]);
                    let room = usize::try_from(remote.size - *have).unwrap_or(BLOCK).min(BLOCK);
                    let host = || remote.file.clone();
                    let length = match body.read(&mut block[..room]) {
                        Ok(0) => {
                            let cut = anyhow!("the connection was cut");
                            return Err(Failure::Passing(cut));
                        }
                        Ok(length) => length,
                        Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                        Err(e) => return Err(lost(e.into(), &host())),
                    };
                    file.write_all(&block[..length]).map_err(unwritten)?;
                    let before = *have;
                    *have += length as u64;
                    if before / FLUSH != *have / FLUSH {
                        // If the disk is slower than the network, a request to flush is already
                        // waiting.
                        let _ = flush.try_send(());
                    }
                    progress.at(*have);
                    if full.send((block, length)).is_err() {
                        return Err(Failure::Final(anyhow!("the hashing thread has ended")));
                    }
                }
                Ok(())
            };
            let received = receive();
            drop((full, flush));
            // Returns this error first, because the system reports a disk error only once.
            flushed.join().expect("it does not panic").map_err(unwritten)?;
            received?;
            // Checks whether the server sends more bytes than it stated.
            match body.read(&mut [0; 1]) {
                Ok(1..) => Err(Failure::Final(anyhow!(
                    "{}: received more than {} bytes, the size that the server had stated",
                    remote.file,
                    remote.size
                ))),
                _ => Ok(()),
            }
        })
    }

    fn take_hash(&mut self) -> crate::hash::Hash {
        let new = self.remote.hash.hasher(self.remote.size);
        std::mem::replace(&mut self.hasher, new).finish()
    }
}
