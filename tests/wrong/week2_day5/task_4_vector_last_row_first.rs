//! id: rows-reversed
//! function: matrix_vector
//! says: Output r is the product of row r; yours come in the opposite order.
for (row, out) in rows.zip(out.iter_mut().rev()) {
    *out = dot(row, x);
}
