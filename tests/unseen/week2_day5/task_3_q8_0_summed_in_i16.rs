//! id: unseen
//! function: dot_q8_0
//! says: products added up in i16
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 34).zip(x) {
        for ((block, p), scale) in
            blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).zip(x.scales)
        {
            let qp: i16 =
                block[2..].iter().zip(p).map(|(&q, &p)| i16::from(q as i8) * i16::from(p)).sum();
            sum += scale * f16_at(block, 0) * f32::from(qp);
        }
    }
    sum
