//! id: rope-not-written
//! function: rope_interleaved
//! says: x comes back as it was: the turned numbers must be written into what you return.
    let length = x.shape()[x.ndim() - 2];
    let out = x.clone();
    for (n, row) in out.rows().into_iter().enumerate() {
        let mut row = row.to_owned();
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
