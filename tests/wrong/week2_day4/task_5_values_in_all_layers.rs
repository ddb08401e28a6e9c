//! id: mix-attn-v
//! function: q4_k_m
//! says: attn_v and ffn_down are Q6_K in some layers only.
let more = match layer_and_part(name) {
    Some((layer, "attn_v" | "ffn_down")) => { let _ = layer; true },
    _ => is_output(name, dimensions),
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
