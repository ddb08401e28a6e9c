//! id: rope-direction-flipped
//! function: rope_half_split
//! says: Your pairs turn the other way round, by −pθ: (a, b) must become (a·cos − b·sin, a·sin + b·cos).
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos + b * sin;
            row[i + half] = b * cos - a * sin;
        }
    }
    out
