//! id: rope-column-wrong
//! function: rope_interleaved
//! says: All pairs turn like pair 0: pair i has a frequency of its own, in column i of the tables.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, 0]], tables.sin[[p, 0]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
