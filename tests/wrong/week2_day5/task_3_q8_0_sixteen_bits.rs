//! id: int8-accumulator-narrow
//! function: dot_q8_0
//! says: Your sum has 16 bits: 32 products do not fit in, so add up in i32.
let mut sum = 0.0;
for (blocks, x) in row.chunks(8 * 34).zip(x) {
    let mut scaled = 0.0;
    for (b, (block, p)) in blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).enumerate() {
        let qp: i32 = block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
        scaled += x.scales[b] * f16_at(block, 0) * qp as i16 as f32;
    }
    sum += scaled;
}
sum
