//! id: rope-halves-restacked
//! function: rope_half_split
//! says: The second number of each pair is made of the new first one: both need the old pair, so read both before you write.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            row[i] = row[i] * cos - row[i + half] * sin;
            row[i + half] = row[i] * sin + row[i + half] * cos;
        }
    }
    out
