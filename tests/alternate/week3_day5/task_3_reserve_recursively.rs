//! function: SharedCache::reserve
//! how: again after each page that was given up
        self.pages.reserve(sequence, len)
            || len <= self.pages.shape().capacity
                && self.index.evict(self.pages.pool_mut())
                && self.reserve(sequence, len)
