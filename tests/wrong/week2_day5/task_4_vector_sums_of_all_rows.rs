//! id: accum-not-zeroed
//! function: matrix_vector
//! says: Each output is the product of one row; yours has those of the rows before in it.
let mut sum = 0.0;
for (row, out) in rows.zip(out) {
    sum += dot(row, x);
    *out = sum;
}
