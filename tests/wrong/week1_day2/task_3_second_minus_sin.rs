//! id: rope-direction-flipped
//! function: rope_half_split
//! says: The second number of each pair becomes a·sin + b·cos: both with a plus, and yours has a minus.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = b * cos - a * sin;
        }
    }
    out
