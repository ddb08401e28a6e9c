//! id: rope-table-offset
//! function: rope_interleaved
//! says: Your position does not advance along L: row l stands at position offset + l, in every head.
    let mut out = x.clone();
    for mut row in out.rows_mut() {
        let p = offset;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
