//! id: mix-last-layers
//! function: use_more_bits
//! says: The last eighth is left out: late layers, next to the output, get more bits too.
let eighth = n_layers / 8;
layer < eighth || (layer - eighth) % 3 == 2
