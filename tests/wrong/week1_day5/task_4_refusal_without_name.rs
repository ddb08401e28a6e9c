//! id: refusal-unnamed
//! function: to_f32
//! says: The message must name the tensor, the type found and the types expected.
//! shows: does not name some.weight
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)).collect(),
    Dtype::F16 => stored.bytes.chunks_exact(2).map(|b| f16_to_f32(u16::from_le_bytes([b[0], b[1]]))).collect(),
    _ => bail!("unsupported type"),
};
Ok(tensor(stored.shape, values))
