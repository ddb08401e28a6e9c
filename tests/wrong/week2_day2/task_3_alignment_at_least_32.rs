//! id: alignment-minimum
//! function: alignment
//! says: You take 32 where less is said: `general.alignment` may be any power of two.
const KEY: &str = "general.alignment";
let alignment = metadata.size(KEY)?.unwrap_or(DEFAULT_ALIGNMENT);
ensure!(alignment.is_power_of_two(), metadata.wrong(KEY, "a power of two"));
Ok(alignment.max(DEFAULT_ALIGNMENT))
