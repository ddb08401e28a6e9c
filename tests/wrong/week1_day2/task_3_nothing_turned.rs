//! id: rope-not-written
//! function: rope_half_split
//! says: x comes back as it was: the turned numbers must be written into what you return.
    let length = x.shape()[x.ndim() - 2];
    let out = x.clone();
    for (n, row) in out.rows().into_iter().enumerate() {
        let mut row = row.to_owned();
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
