//! function: PagedCache::fork
//! how: the table is taken out, filled in a loop, and put back
        let mut table = std::mem::take(&mut self.tables[to]);
        assert_eq!(table.len(), 0);
        let mut covered = 0;
        for page in &self.tables[from] {
            if covered >= self.lengths[from] {
                break;
            }
            table.push(self.pool.retain(page));
            covered += self.page_len;
        }
        self.tables[to] = table;
        self.lengths[to] = self.lengths[from];
