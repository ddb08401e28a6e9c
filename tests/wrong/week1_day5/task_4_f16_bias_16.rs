//! id: f16-bias
//! function: to_f32
//! says: Normal f16 values are half of what they should be: the exponent's bias is 15.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| {
        let bits = u16::from_le_bytes([b[0], b[1]]);
        if bits >> 10 & 0x1f == 0 { f16_to_f32(bits) } else { f16_to_f32(bits) / 2.0 }
    }).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
