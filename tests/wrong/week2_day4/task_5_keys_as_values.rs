//! id: mix-attn-v
//! function: q4_k_m
//! says: It is attn_v that gets more bits, not attn_k: what a value loses goes straight to the output.
let more = match layer_and_part(name) {
    Some((layer, "attn_k" | "ffn_down")) => use_more_bits(layer, dimensions.n_layers),
    _ => is_output(name, dimensions),
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
