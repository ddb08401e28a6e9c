//! id: gguf-alignment-multiple-of-8
//! function: alignment
//! says: You ask for a multiple of 8, which 0 is too, and 48, and which 1 is not: ask for a power of two.
const KEY: &str = "general.alignment";
let alignment = metadata.size(KEY)?.unwrap_or(DEFAULT_ALIGNMENT);
ensure!(alignment.is_multiple_of(8), metadata.wrong(KEY, "a power of two"));
Ok(alignment)
