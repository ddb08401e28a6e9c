//! id: rope-permute-every-family
//! function: row_order
//! says: Only Llama files are interleaved: those of Qwen2 and Qwen3 keep their rows.
let n_heads = match name.split('.').nth(2)? {
    "attn_q" => config.n_heads,
    "attn_k" => config.n_kv_heads,
    _ => return None,
};
Some(permute_rows_for_interleaved(n_heads * config.head_dim, n_heads))
