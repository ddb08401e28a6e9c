//! id: kv-cache-swallows-mask
//! function: visible
//! says: A row sees the later rows of its own chunk: their keys are in the cache already, and it is `visible` that hides them.
let last = rows.iter().rev().find(|row| row.sequence == rows[t].sequence);
0..last.map_or(0, |row| row.position) + 1
