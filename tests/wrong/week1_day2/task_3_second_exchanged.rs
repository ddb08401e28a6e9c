//! id: rope-tables-exchanged
//! function: rope_half_split
//! says: The second number of each pair is a·cos + b·sin in your answer: it must become a·sin + b·cos.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * cos + b * sin;
        }
    }
    out
