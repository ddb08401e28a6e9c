//! id: thread-rows-remainder
//! function: matrix_vector
//! says: Your last row is missing: there may be any number of rows.
for (row, out) in rows.zip(out.split_last_mut().expect("rows").1) {
    *out = dot(row, x);
}
