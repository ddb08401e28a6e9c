//! id: rope-column-wrong
//! function: rope_half_split
//! says: All pairs turn like pair 0: pair i has a frequency of its own, in column i of the tables.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, 0]], tables.sin[[p, 0]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * sin + b * cos;
        }
    }
    out
