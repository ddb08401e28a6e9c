//! id: mix-last-layers
//! function: use_more_bits
//! says: The last eighth begins with layer 7 · n / 8: that one belongs to it.
let eighth = n_layers / 8;
layer < eighth || layer > 7 * n_layers / 8 || (layer - eighth) % 3 == 2
