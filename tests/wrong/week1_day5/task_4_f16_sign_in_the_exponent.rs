//! id: f16-sign
//! function: to_f32
//! says: The sign bit of negative f16 values got into the exponent: only five bits are the exponent, (bits >> 10) & 31.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| {
        let bits = u16::from_le_bytes([b[0], b[1]]);
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10), f32::from(bits & 0x3ff));
        if exponent < 32 { f16_to_f32(bits) } else { sign * (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15) }
    }).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
