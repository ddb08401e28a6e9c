//! id: gguf-data-offset
//! function: place
//! says: Offsets are counted from the start of the file with you; they are counted from the start of the data.
let _ = data_start;
tensor.offset..tensor.offset + tensor.size
