//! id: rope-gguf-permute-missed
//! function: row_order
//! says: Keys are rotated as queries are, so their rows are permuted too.
if config.family != Family::Llama {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
