//! id: rope-applied-to-v
//! function: row_order
//! says: Values are not rotated: their rows stay as they are.
if config.family != Family::Llama {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" | "attn_v" => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
