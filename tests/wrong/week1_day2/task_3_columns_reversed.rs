//! id: rope-column-wrong
//! function: rope_half_split
//! says: Your pairs use the columns of the tables from the last to the first: pair i belongs to column i.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let last = tables.cos.shape()[1] - 1;
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, last - i]], tables.sin[[p, last - i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * sin + b * cos;
        }
    }
    out
