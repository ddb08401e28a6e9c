//! id: rope-pairing-swapped
//! function: rope_interleaved
//! says: You pair numbers from both ends of the head, (x[i], x[D − 1 − i]): here neighbours are a pair, (x[2i], x[2i+1]).
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let d = row.len();
        for i in 0..d / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[d - 1 - i]);
            row[i] = a * cos - b * sin;
            row[d - 1 - i] = a * sin + b * cos;
        }
    }
    out
