//! id: mix-output
//! function: q4_k_m
//! says: In a tied model the embedding is the output head, and Q6_K as that is.
let more = match layer_and_part(name) {
    Some((layer, "attn_v" | "ffn_down")) => use_more_bits(layer, dimensions.n_layers),
    _ => name == "output.weight",
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
