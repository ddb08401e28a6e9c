//! id: rope-direction-flipped
//! function: rope_interleaved
//! says: The second number of each pair becomes a·sin + b·cos: both with a plus, and yours has a minus.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = b * cos - a * sin;
        }
    }
    out
