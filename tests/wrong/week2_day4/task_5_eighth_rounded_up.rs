//! id: mix-first-layers
//! function: use_more_bits
//! says: An eighth of the layers is rounded down: you rounded up.
let eighth = n_layers.div_ceil(8);
layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2
