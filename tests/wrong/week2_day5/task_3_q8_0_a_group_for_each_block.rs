//! id: group-per-block
//! function: dot_q8_0
//! says: A group of activations serves eight blocks of 32: each of your blocks takes a group of its own.
let mut sum = 0.0;
for (blocks, x) in row.chunks(34).zip(x) {
    for ((block, p), scale) in blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).zip(x.scales) {
        let qp: i32 = block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
        sum += scale * f16_at(block, 0) * qp as f32;
    }
}
sum
