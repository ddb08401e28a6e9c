//! id: accum-not-zeroed
//! function: matrix_vector
//! says: You add to what the output held: write it.
for (row, out) in rows.zip(out) {
    *out += dot(row, x);
}
