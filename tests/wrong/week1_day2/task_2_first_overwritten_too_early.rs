//! id: rope-halves-restacked
//! function: rope_interleaved
//! says: The second number of each pair is made of the new first one: both need the old pair, so read both before you write.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            row[2 * i] = row[2 * i] * cos - row[2 * i + 1] * sin;
            row[2 * i + 1] = row[2 * i] * sin + row[2 * i + 1] * cos;
        }
    }
    out
