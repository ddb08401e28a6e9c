//! id: rope-pairing-swapped
//! function: rope_interleaved
//! says: Your pairs overlap, (x[i], x[i+1]): pair i is the numbers 2i and 2i + 1, so each number belongs to one pair.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + 1]);
            row[i] = a * cos - b * sin;
            row[i + 1] = a * sin + b * cos;
        }
    }
    out
