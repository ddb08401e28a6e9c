//! id: unseen
//! function: to_f32
//! says: bits shifted, exponent rebiased, subnormals not renormalised
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
            .map(|b| { let h = u32::from(u16::from_le_bytes([b[0], b[1]])); let (s, e, f) = (h >> 15 << 31, h >> 10 & 31, h & 0x3ff); f32::from_bits(if e == 0 && f == 0 { s } else if e == 31 { s | 0x7f80_0000 | f << 13 } else { s | (e + 112) << 23 | f << 13 }) })
            .collect(),
        other => bail!(
            "tensor {}: type {other:?} is not supported; expected F32, F16 or BF16",
            stored.name
        ),
    };
    Ok(tensor(stored.shape, values))
