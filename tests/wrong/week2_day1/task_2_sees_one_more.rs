//! id: kv-one-more
//! function: visible
//! says: A row sees the position behind its own, where a later row, or something old, lies.
0..rows[t].position + 2
