//! id: unseen
//! function: rope_half_split
//! says: rows in memory order
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    let d = x.shape()[x.ndim() - 1];
    for (n, row) in out.as_slice_memory_order_mut().unwrap().chunks_mut(d).enumerate() {
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
