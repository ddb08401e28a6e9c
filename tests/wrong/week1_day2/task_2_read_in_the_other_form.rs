//! id: rope-halves-restacked
//! function: rope_interleaved
//! says: You read numbers half a head apart but write the results to neighbours: each goes back to where its number came from.
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let half = row.len() / 2;
        let old = row.to_owned();
        for i in 0..half {
            let (cos, sin) = (tables.cos[[p, i]], tables.sin[[p, i]]);
            let (a, b) = (old[i], old[i + half]);
            row[2 * i] = a * cos - b * sin;
            row[2 * i + 1] = a * sin + b * cos;
        }
    }
    out
