//! id: mix-every-third
//! function: use_more_bits
//! says: Every third layer is counted from the end of the first eighth, not from layer 0.
let eighth = n_layers / 8;
layer < eighth || layer >= 7 * n_layers / 8 || layer % 3 == 2
