//! id: rope-halves-restacked
//! function: rope_half_split
//! says: The second number needs the first as it was before.
    let length = x.shape()[x.ndim() - 2];
    let _ = (length, offset);
    let mut out = x.clone();
    for (n, (mut row, source)) in out.rows_mut().into_iter().zip(x.rows()).enumerate() {
        let _ = n;
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (source[i], source[i + half]);
            row[i] = a * cos - b * sin;
            let a = row[i]; row[i + half] = a * sin + b * cos;
        }
    }
    out
