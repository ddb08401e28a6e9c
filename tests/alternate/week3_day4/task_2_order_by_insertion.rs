//! function: arrange
//! how: an insertion sort that looks for the first page where two rows differ
        let page_len = cache.page_len();
        let before = |a: usize, b: usize| {
            let (a, b) = (&rows[a], &rows[b]);
            let (pages_a, pages_b) = (a.position / page_len + 1, b.position / page_len + 1);
            for i in 0..pages_a.min(pages_b) {
                let names = [a, b].map(|row| cache.page_name(row.sequence, i));
                if names[0] != names[1] {
                    return names[0] < names[1];
                }
            }
            pages_a < pages_b
        };
        order.clear();
        for t in 0..rows.len() {
            let mut at = t;
            while at > 0 && before(t, order[at - 1]) {
                at -= 1;
            }
            order.insert(at, t);
        }
