//! id: mix-output
//! function: q4_k_m
//! says: attn_output is not the output head: compare the whole name.
let more = match layer_and_part(name) {
    Some((layer, "attn_v" | "ffn_down")) => use_more_bits(layer, dimensions.n_layers),
    _ => is_output(name, dimensions) || name.contains("output"),
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
