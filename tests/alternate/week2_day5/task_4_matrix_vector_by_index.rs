//! function: matrix_vector
//! how: an index for each output
for (r, row) in rows.enumerate() {
    out[r] = dot(row, x);
}
