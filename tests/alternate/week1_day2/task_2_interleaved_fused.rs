//! function: rope_interleaved
//! how: fused multiplications and additions, a row of the tables at a time
    let length = x.shape()[x.ndim() - 2];
    let mut out = x.clone();
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let p = offset + n % length;
        let (cos, sin) = (tables.cos.index_axis(ndarray::Axis(0), p), tables.sin.index_axis(ndarray::Axis(0), p));
        for (i, (&cos, &sin)) in cos.iter().zip(&sin).enumerate() {
            let (a, b) = (row[2 * i], row[2 * i + 1]);
            row[2 * i] = a.mul_add(cos, -(b * sin));
            row[2 * i + 1] = a.mul_add(sin, b * cos);
        }
    }
    out
