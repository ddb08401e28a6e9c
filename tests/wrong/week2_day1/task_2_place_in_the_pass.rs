//! id: kv-visible-index-of-row
//! function: visible
//! says: A row sees as many positions as it has rows before it in this pass: the positions that were in the cache before count too.
0..t + 1
