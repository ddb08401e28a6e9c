//! id: rope-low-precision-angles
//! function: rope_half_split
//! says: Multiply in f32.
    let length = x.shape()[x.ndim() - 2];
    let _ = (length, offset);
    let mut out = x.clone();
    for (n, (mut row, source)) in out.rows_mut().into_iter().zip(x.rows()).enumerate() {
        let _ = n;
        let p = offset + n % length;
        let half = row.len() / 2;
        for i in 0..half {
            let bf16 = |x: f32| f32::from_bits((x.to_bits() + 0x8000) & 0xffff_0000); let (cos, sin) = (bf16(tables.cos[[p, i]]), bf16(tables.sin[[p, i]]));
            let (a, b) = (source[i], source[i + half]);
            row[i] = a * cos - b * sin;
            row[i + half] = a * sin + b * cos;
        }
    }
    out
