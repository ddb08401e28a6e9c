//! id: kv-not-itself
//! function: visible
//! says: A row does not see its own position: position p sees the positions 0 to p.
0..rows[t].position
