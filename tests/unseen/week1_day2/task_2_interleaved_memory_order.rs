//! id: unseen
//! function: rope_interleaved
//! says: rows in memory order
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    let d = x.shape()[x.ndim() - 1];
    for (n, row) in out.as_slice_memory_order_mut().unwrap().chunks_mut(d).enumerate() {
        let p = offset + n % length;
        for i in 0..row.len() / 2 {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
