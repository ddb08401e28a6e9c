//! id: unseen
//! function: to_f32
//! says: f64 accepted
    let values = match stored.dtype {
        Dtype::F32 => stored
            .bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect(),
        Dtype::BF16 => stored
            .bytes
            .chunks_exact(2)
            .map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16))
            .collect(),
        Dtype::F16 => stored
            .bytes
            .chunks_exact(2)
            .map(|b| f16_to_f32(u16::from_le_bytes([b[0], b[1]])))
            .collect(),
        Dtype::F64 => stored.bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()) as f32).collect(),
        other => bail!(
            "tensor {}: type {other:?} is not supported; expected F32, F16 or BF16",
            stored.name
        ),
    };
    Ok(tensor(stored.shape, values))
