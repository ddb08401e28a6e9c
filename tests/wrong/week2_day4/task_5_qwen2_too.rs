//! id: rope-permute-every-family
//! function: row_order
//! says: Qwen2 files keep their rows as those of Qwen3 do: only Llama files are interleaved.
if config.family == Family::Qwen3 {
    return None;
}
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
