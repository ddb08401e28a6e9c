//! function: PagedCache::reserve
//! how: counts in a loop over the pages, then works in another
        if len > self.shape.capacity {
            return false;
        }
        let first = self.lengths[sequence] / self.page_len;
        let end = if len > self.lengths[sequence] { len.div_ceil(self.page_len) } else { first };
        let mut needed = 0;
        for i in first..end {
            let page = self.tables[sequence].get(i);
            if page.is_none_or(|page| self.pool.num_owners(page) > 1) {
                needed += 1;
            }
        }
        if self.pool.num_free() < needed {
            return false;
        }
        for i in first..end {
            if i < self.tables[sequence].len() {
                self.make_writable(sequence, i);
            } else {
                let page = self.pool.allocate().unwrap();
                self.tables[sequence].push(page);
            }
        }
        true
