//! function: data_start
//! how: rounds up with a mask
let mask = alignment - 1;
position.checked_add(mask).map(|end| end & !mask)
