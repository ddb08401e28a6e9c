//! id: rope-table-offset
//! function: rope_interleaved
//! says: Row p is position p, always.
    let length = x.shape()[x.ndim() - 2];
    let _ = (length, offset);
    let mut out = x.clone();
    for (n, (mut row, source)) in out.rows_mut().into_iter().zip(x.rows()).enumerate() {
        let _ = n;
        let p = offset;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (source[2 * i], source[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
