//! id: rope-permute-k-with-n_heads
//! function: row_order
//! says: Keys have heads of their own, fewer than queries: permute attn_k with n_kv_heads.
if config.family != Family::Llama {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" => config.n_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
