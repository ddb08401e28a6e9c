//! id: mix-last-layers
//! function: use_more_bits
//! says: The last layers begin at 7 · n / 8, rounded down; n − n / 8 is another layer where n is no multiple of 8.
let eighth = n_layers / 8;
layer < eighth || layer >= n_layers - eighth || (layer - eighth) % 3 == 2
