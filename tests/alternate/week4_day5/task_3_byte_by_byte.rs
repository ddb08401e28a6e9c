//! function: q8_0
//! how: one byte after the other
    r"
    fn byte(at: u32) -> f32 {
        let unsigned = (words[at / 4u] >> (8u * (at % 4u))) & 255u;
        return f32(i32(unsigned) - select(0, 256, unsigned > 127u));
    }
    fn scale(block: u32) -> f32 {
        return half_float(34u * block);
    }
    fn four(block: u32, i: u32) -> vec4<f32> {
        let at = 34u * block + 2u + 4u * i;
        return vec4<f32>(byte(at), byte(at + 1u), byte(at + 2u), byte(at + 3u));
    }
    "
