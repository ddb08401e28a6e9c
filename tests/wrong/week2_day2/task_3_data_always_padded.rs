//! id: gguf-data-padding
//! function: data_start
//! says: Where the table ends at a multiple of the alignment you add one more: the next multiple at or after it is that place itself.
(position / alignment + 1).checked_mul(alignment)
