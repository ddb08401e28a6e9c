//! id: mix-attn-v
//! function: q4_k_m
//! says: ffn_down gets more bits in the same layers as attn_v.
let more = match layer_and_part(name) {
    Some((layer, "attn_v")) => use_more_bits(layer, dimensions.n_layers),
    _ => is_output(name, dimensions),
};
if more { TensorType::Q6_K } else { TensorType::Q4_K }
