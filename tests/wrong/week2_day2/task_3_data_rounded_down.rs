//! id: gguf-data-rounded-down
//! function: data_start
//! says: You round down to a multiple of the alignment, into the table: the data come after it.
Some(position / alignment * alignment)
