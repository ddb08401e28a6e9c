//! id: bytes-read-twice
//! function: matrix_vector
//! says: You multiply each row more than once: decode is as slow as the bytes that it reads.
//! shows: expected 6800: each once
for (row, out) in rows.zip(out) {
    let _ = dot(row, x);
    *out = dot(row, x);
}
