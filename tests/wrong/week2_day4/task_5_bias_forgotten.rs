//! id: rope-bias-not-permuted
//! function: row_order
//! says: A bias is added to the rows that were permuted, so it is permuted with them.
if config.family != Family::Llama || name.ends_with(".bias") {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
