//! id: rope-pairing-swapped
//! function: rope_half_split
//! says: You pair numbers from both ends of the head, (x[i], x[D − 1 − i]): here the two are half a head apart, (x[i], x[i + D/2]).
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[i], row[2 * half - 1 - i]);
            row[i] = a * cos - b * sin;
            row[2 * half - 1 - i] = a * sin + b * cos;
        }
    }
    out
