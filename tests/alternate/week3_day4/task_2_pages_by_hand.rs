//! function: read_pages
//! how: stretches of readers found by hand
        let page_len = cache.page_len();
        let head_dim = cache.shape().head_dim;
        let mut i = positions.start / page_len;
        while i * page_len < positions.end {
            let low = positions.start.max(i * page_len);
            let high = positions.end.min((i + 1) * page_len);
            let mut from = 0;
            while from < readers.len() {
                let sees = |r: &Reader| r.visible.start.max(low) < r.visible.end.min(high);
                if !sees(&readers[from]) {
                    from += 1;
                    continue;
                }
                let sequence = readers[from].sequence;
                let name = cache.page_name(sequence, i);
                let mut to = from;
                let (mut start, mut end) = (usize::MAX, 0);
                while to < readers.len()
                    && sees(&readers[to])
                    && cache.page_name(readers[to].sequence, i) == name
                {
                    start = start.min(readers[to].visible.start.max(low));
                    end = end.max(readers[to].visible.end.min(high));
                    to += 1;
                }
                for run in cache.runs(layer, sequence, head, start - start % TILE..end) {
                    read_run(&mut readers[from..to], run, head_dim, scale, desk);
                }
                from = to;
            }
            i += 1;
        }
