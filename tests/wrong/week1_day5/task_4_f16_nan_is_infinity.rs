//! id: f16-infinity
//! function: to_f32
//! says: NaN in f16 became infinity: exponent bits 31 stand for infinity only where the fraction is 0, and otherwise for NaN.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| {
        let bits = u16::from_le_bytes([b[0], b[1]]);
        let value = f16_to_f32(bits);
        if value.is_nan() { f32::INFINITY.copysign(if bits >> 15 == 0 { 1.0 } else { -1.0 }) } else { value }
    }).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
