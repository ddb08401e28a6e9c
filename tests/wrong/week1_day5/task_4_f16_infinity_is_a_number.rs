//! id: f16-infinity
//! function: to_f32
//! says: Exponent bits 31 were read as a number: they stand for infinity, and for NaN where the fraction is not 0.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| {
        let bits = u16::from_le_bytes([b[0], b[1]]);
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        if bits >> 10 & 0x1f == 31 { sign * (1.0 + f32::from(bits & 0x3ff) / 1024.0) * 65536.0 } else { f16_to_f32(bits) }
    }).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
