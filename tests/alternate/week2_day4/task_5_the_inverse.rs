//! function: permute_rows_for_half_split
//! how: the other permutation, inverted
let mut back = vec![0; rows];
for (to, from) in permute_rows_for_interleaved(rows, n_heads).into_iter().enumerate() {
    back[from] = to;
}
back
