//! id: mix-output
//! function: q4_k_m
//! says: The embedding is Q6_K only where it is the output head too.
let more = match layer_and_part(name) {
    Some((layer, "attn_v" | "ffn_down")) => use_more_bits(layer, dimensions.n_layers),
    _ => is_output(name, dimensions) || name == "token_embd.weight",
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
