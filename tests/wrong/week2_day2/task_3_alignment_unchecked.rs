//! id: gguf-alignment-unchecked
//! function: alignment
//! says: Any alignment is accepted; with 0 the next multiple is a division by zero, and others than powers of two are none.
const KEY: &str = "general.alignment";
let alignment = metadata.size(KEY)?.unwrap_or(DEFAULT_ALIGNMENT);
Ok(alignment)
