//! id: rope-column-wrong
//! function: rope_interleaved
//! says: Your pairs use the columns of the tables from the last to the first: pair i belongs to column i.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let last = tables.cos.shape()[1] - 1;
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, last - i]], tables.sin[[p, last - i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
