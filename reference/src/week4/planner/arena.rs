//! Day 3. An arena that allocates parts of its memory and frees them.
//!
//! Tasks here: week4-day3 task 2 (`Arena::allocate`, `Arena::release`). Everything else is
//! provided.

/// Keeps track of the free parts of an arena. This type stores no data, only offsets from the start
/// of the arena.
///
/// Adjacent free parts are always joined into one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arena {
    /// Start and length of each free part, from front to back. All of them are before `end`.
    free: Vec<(usize, usize)>,
    /// Number of bytes that the arena has needed so far: the largest offset at which a part ended.
    end: usize,
}

impl Arena {
    /// Returns the length that the arena needs for all allocations so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.end
    }

    /// Returns the start and length of each free part, from front to back.
    #[must_use]
    pub fn free_parts(&self) -> &[(usize, usize)] {
        &self.free
    }

    /// Allocates `bytes` bytes and returns their offset. Uses the beginning of the shortest free
    /// part that is long enough. Of equally short parts, uses the first. If no free part is long
    /// enough, the arena grows. The new part then begins at the arena's old end. But if a free part
    /// ends there, the new part begins at the start of that free part.
    ///
    /// # Panics
    /// If `bytes` is 0.
    pub fn allocate(&mut self, bytes: usize) -> usize {
        // SOLUTION week4-day3 task 2
        assert!(bytes > 0, "found 0 bytes, expected at least 1");
        let fits = (0..self.free.len()).filter(|&i| self.free[i].1 >= bytes);
        if let Some(best) = fits.min_by_key(|&i| self.free[i].1) {
            let (start, len) = self.free[best];
            if len == bytes {
                self.free.remove(best);
            } else {
                self.free[best] = (start + bytes, len - bytes);
            }
            return start;
        }
        let start = match self.free.last() {
            Some(&(start, len)) if start + len == self.end => {
                self.free.pop();
                start
            }
            _ => self.end,
        };
        self.end = start + bytes;
        start
        // END SOLUTION
    }

    /// Frees the `bytes` bytes that begin at `start`, and joins them with the free parts next to
    /// them.
    ///
    /// # Panics
    /// If any of these bytes is already free, or is beyond the arena.
    pub fn release(&mut self, start: usize, bytes: usize) {
        // SOLUTION week4-day3 task 2
        let at = self.free.partition_point(|&(begin, _)| begin < start);
        let before = at.checked_sub(1).map(|i| self.free[i]);
        let behind = self.free.get(at).copied();
        assert!(
            start + bytes <= self.end
                && before.is_none_or(|(begin, len)| begin + len <= start)
                && behind.is_none_or(|(begin, _)| start + bytes <= begin),
            "{bytes} bytes from {start} on are released, but some of them are not lent"
        );
        let mut part = (start, bytes);
        if let Some((begin, _)) = behind.filter(|&(begin, _)| begin == start + bytes) {
            let (_, len) = self.free.remove(at);
            part.1 = begin + len - start;
        }
        match before {
            Some((begin, len)) if begin + len == start => {
                self.free[at - 1] = (begin, len + part.1);
            }
            _ => self.free.insert(at, part),
        }
        // END SOLUTION
    }
}
