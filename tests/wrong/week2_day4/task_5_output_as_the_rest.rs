//! id: mix-output
//! function: q4_k_m
//! says: The output head is Q6_K: every logit goes through it.
let more = match layer_and_part(name) {
    Some((layer, "attn_v" | "ffn_down")) => use_more_bits(layer, dimensions.n_layers),
    _ => false && is_output(name, dimensions),
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
