//! id: rope-permute-names
//! function: row_order
//! says: attn_q_norm begins as attn_q does and is another tensor: compare the whole part between the dots.
if config.family != Family::Llama {
    return None;
}
let n_heads = match name {
    part if part.contains("attn_q") => config.n_heads,
    part if part.contains("attn_k") => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
