//! id: mix-last-layers
//! function: use_more_bits
//! says: Multiply before you divide: 7 · n / 8 is not 7 · (n / 8), which is rounded down before.
let eighth = n_layers / 8;
layer < eighth || layer >= 7 * eighth || (layer - eighth) % 3 == 2
