//! id: mix-every-third
//! function: use_more_bits
//! says: It is the third of each three that gets more bits, not the first.
let eighth = n_layers / 8;
layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 0
