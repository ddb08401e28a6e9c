//! id: unseen
//! function: to_f32
//! says: subnormals by 2^-14 and not 2^-24
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
            .map(|b| { let h = u16::from_le_bytes([b[0], b[1]]); if h & 0x7c00 == 0 { f32::from(h & 0x3ff) * 2f32.powi(-14) * if h >> 15 == 1 { -1.0 } else { 1.0 } } else { f16_to_f32(h) } })
            .collect(),
        other => bail!(
            "tensor {}: type {other:?} is not supported; expected F32, F16 or BF16",
            stored.name
        ),
    };
    Ok(tensor(stored.shape, values))
