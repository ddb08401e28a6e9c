//! id: q8-as-u8
//! function: dot_q8_0
//! says: You read the codes as 0…255; they are signed, so cast to i8 first.
let mut sum = 0.0;
for (blocks, x) in row.chunks(8 * 34).zip(x) {
    let mut scaled = 0.0;
    for (b, (block, p)) in blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).enumerate() {
        let qp: i32 = block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q) * i32::from(p)).sum();
        scaled += x.scales[b] * f16_at(block, 0) * qp as f32;
    }
    sum += scaled;
}
sum
