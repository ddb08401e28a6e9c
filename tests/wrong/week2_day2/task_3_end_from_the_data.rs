//! id: end-without-start
//! function: place
//! says: The end is counted from the start of the data, the beginning from that of the file: both are counted from the start of the file.
let start = data_start + tensor.offset;
start..tensor.offset + tensor.size
