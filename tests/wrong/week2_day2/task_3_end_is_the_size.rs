//! id: range-end-is-size
//! function: place
//! says: The end of the range is the size alone: it is the start plus the size.
let start = data_start + tensor.offset;
start..tensor.size
