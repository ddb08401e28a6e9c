//! id: rows-not-advanced
//! function: matrix_vector
//! says: You begin with the second row: output r is the product of row r.
for (row, out) in rows.skip(1).zip(out) {
    *out = dot(row, x);
}
