//! id: kv-not-itself
//! function: visible
//! says: A row does not see its own position: position p sees p + 1 positions, 0 to p.
rows[t].position 
