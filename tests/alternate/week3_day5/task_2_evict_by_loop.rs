//! function: PrefixIndex::evict
//! how: a loop that keeps the oldest so far
        let mut oldest: Option<(u64, u64)> = None;
        for (&name, entry) in &self.entries {
            if pool.num_owners(&entry.page) == 1 && oldest.is_none_or(|(used, _)| entry.used < used) {
                oldest = Some((entry.used, name));
            }
        }
        match oldest {
            None => false,
            Some((_, name)) => {
                let Entry { page, .. } = self.entries.remove(&name).unwrap();
                pool.release(page);
                self.counts.evicted += 1;
                true
            }
        }
