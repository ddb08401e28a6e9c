//! function: permute_rows_for_interleaved
//! how: pairs pushed one after the other
let half = rows / n_heads / 2;
let mut order = vec![];
for head in 0..n_heads {
    for i in 0..half {
        order.extend([2 * half * head + i, 2 * half * head + half + i]);
    }
}
order
