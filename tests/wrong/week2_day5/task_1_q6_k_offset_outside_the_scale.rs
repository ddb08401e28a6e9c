//! id: offset-outside-scale
//! function: dot_q6_k
//! says: The offset is counted in steps like the codes: it needs the scale of its sixteen too.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(210).zip(x.chunks_exact(256)) {
    let mut scaled = 0.0;
    for (s, x) in x.chunks_exact(16).enumerate() {
        // Which half of the block, which quarter of that, and where in the quarter's 32 bytes.
        let (half, quarter, first) = (s / 8, s % 8 / 2, s % 2 * 16);
        let low = &block[half * 64 + quarter % 2 * 32 + first..][..16];
        let upper = &block[128 + half * 32 + first..][..16];
        let (mut qx, mut x_sum) = (0.0, 0.0);
        for ((low, upper), x) in low.iter().zip(upper).zip(x) {
            let q = low >> (quarter / 2 * 4) & 15 | (upper >> (quarter * 2) & 3) << 4;
            qx += f32::from(q) * x;
            x_sum += x;
        }
        scaled += f32::from(block[192 + s] as i8) * qx - 32.0 * x_sum;
    }
    sum += f16_at(block, 208) * scaled;
}
sum
