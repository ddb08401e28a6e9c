//! id: rope-permutation-inverted
//! function: row_order
//! says: These are the rows on the way back: what goes into a file is in the order of `permute_rows_for_interleaved`.
if config.family != Family::Llama {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_half_split(n_heads * config.head_dim, n_heads))
