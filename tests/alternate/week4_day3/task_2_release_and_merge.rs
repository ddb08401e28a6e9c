//! function: Arena::release
//! how: puts the part in, sorts, and joins what touches
        let end = start + bytes;
        let overlaps = |&(begin, len): &(usize, usize)| begin < end && start < begin + len;
        assert!(start + bytes <= self.end && !self.free.iter().any(overlaps), "not lent");
        self.free.push((start, bytes));
        self.free.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for &(start, len) in &self.free {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 == start => last.1 += len,
                _ => joined.push((start, len)),
            }
        }
        self.free = joined;
