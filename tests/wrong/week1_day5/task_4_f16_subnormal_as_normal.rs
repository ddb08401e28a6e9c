//! id: f16-subnormal
//! function: to_f32
//! says: Subnormal f16 values got an implicit 1: with exponent bits 0 the value is fraction · 2⁻²⁴, so that 0 is 0.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| {
        let bits = u16::from_le_bytes([b[0], b[1]]);
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        if bits >> 10 & 0x1f == 0 { sign * (1.0 + f32::from(bits & 0x3ff) / 1024.0) * 2f32.powi(-14) } else { f16_to_f32(bits) }
    }).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
