//! function: use_more_bits
//! how: by ranges of layers
let (first, last) = (n_layers / 8, 7 * n_layers / 8);
(0..first).contains(&layer) || (last..n_layers).contains(&layer) || (first + 2..last).step_by(3).any(|l| l == layer)
