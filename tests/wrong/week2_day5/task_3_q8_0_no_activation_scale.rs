//! id: activation-scale-forgotten
//! function: dot_q8_0
//! says: The activations' scale is missing: multiply each block's sum with x.scales[b].
let mut sum = 0.0;
for (blocks, x) in row.chunks(8 * 34).zip(x) {
    let mut scaled = 0.0;
    for (block, p) in blocks.chunks_exact(34).zip(x.values.chunks_exact(32)) {
        let qp: i32 = block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
        scaled += f16_at(block, 0) * qp as f32;
    }
    sum += scaled;
}
sum
