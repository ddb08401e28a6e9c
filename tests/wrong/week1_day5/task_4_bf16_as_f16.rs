//! id: bf16-as-f16
//! function: to_f32
//! says: These bf16 bits were read as f16: a bf16 is the upper half of an f32, with its eight exponent bits.
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f16_to_f32(u16::from_le_bytes([b[0], b[1]]))).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| f16_to_f32(u16::from_le_bytes([b[0], b[1]]))).collect(),
    other => bail!("tensor {}: type {other:?} is not supported; expected F32, F16 or BF16", stored.name),
};
Ok(tensor(stored.shape, values))
