//! function: to_f32
//! how: f16 by moving its bits and mending the bias with a product
let values = match stored.dtype {
    Dtype::F32 => stored.bytes.chunks_exact(4).map(|b| f32::from_bits(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect(),
    Dtype::BF16 => stored.bytes.chunks_exact(2).map(|b| f32::from_le_bytes([0, 0, b[0], b[1]])).collect(),
    Dtype::F16 => stored
        .bytes
        .chunks_exact(2)
        .map(|b| {
            // The bits moved into an f32, and the exponent's bias mended by a product.
            let bits = u32::from(u16::from_le_bytes([b[0], b[1]]));
            let magnitude = (bits & 0x7fff) << 13;
            let value = f32::from_bits(magnitude) * f32::from_bits((254 - 15) << 23);
            let value = if bits & 0x7c00 == 0x7c00 { f32::from_bits(magnitude | 0x7f80_0000) } else { value };
            f32::from_bits(value.to_bits() | (bits & 0x8000) << 16)
        })
        .collect(),
    other => bail!("{}: expected one of F32, F16 and BF16, found {other:?}", stored.name),
};
Ok(tensor(stored.shape, values))
