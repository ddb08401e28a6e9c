//! id: gguf-alignment-ignored
//! function: alignment
//! says: You align to 32 whatever the metadata say: look at general.alignment first.
let _ = (metadata, ensure_power_of_two as fn(usize) -> bool);
fn ensure_power_of_two(alignment: usize) -> bool {
    alignment.is_power_of_two()
}
Ok(DEFAULT_ALIGNMENT)
