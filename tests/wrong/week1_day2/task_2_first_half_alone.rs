//! id: rope-pairs-left-out
//! function: rope_interleaved
//! says: The end of each head comes back as it was: all D/2 pairs turn, the last of them (x[D−2], x[D−1]).
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for j in (0..row.len() / 2).step_by(2) {
            let (cos, sin) = (tables.cos[[p, j / 2]], tables.sin[[p, j / 2]]);
            let (a, b) = (row[j], row[j + 1]);
            row[j] = a * cos - b * sin;
            row[j + 1] = a * sin + b * cos;
        }
    }
    out
