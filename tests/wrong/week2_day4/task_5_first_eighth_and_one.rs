//! id: mix-first-layers
//! function: use_more_bits
//! says: The first eighth are the layers below n / 8: layer n / 8 is none of them.
let eighth = n_layers / 8;
layer <= eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2
