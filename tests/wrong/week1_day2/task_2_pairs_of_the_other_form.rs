//! id: rope-pairing-swapped
//! function: rope_interleaved
//! says: You turn the pairs of the half-split form, (x[i], x[i + D/2]): here neighbours are a pair, (x[2i], x[2i+1]).
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * sin + b * cos;
        }
    }
    out
