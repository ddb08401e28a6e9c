//! id: unseen
//! function: dot
//! says: neither low nor high masked
    let (scales, mins) = scales_and_mins(block[4..16].try_into().expect("12 bytes"));
    let (bytes, p) = (block[16..].as_chunks().0, x.values.as_chunks().0);
    let mut acc = _mm256_setzero_si256();
    for j in 0..4 {
        let both = load(&bytes[j]);
        let low = both;
        let high = _mm256_srli_epi16::<4>(both);
        let low = _mm256_maddubs_epi16(low, load_signed(&p[2 * j]));
        let high = _mm256_maddubs_epi16(high, load_signed(&p[2 * j + 1]));
        let scale = |i: usize| {
            _mm256_shuffle_epi8(scales, _mm256_set1_epi16((2 * i + ((2 * i + 1) << 8)) as i16))
        };
        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(low, scale(2 * j)));
        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(high, scale(2 * j + 1)));
    }
    let shift = _mm256_madd_epi16(mins, load_sums(&x.sums));
    let scaled = _mm256_mul_ps(halves([block[0], block[1]]), _mm256_cvtepi32_ps(acc));
    _mm256_fnmadd_ps(halves([block[2], block[3]]), _mm256_cvtepi32_ps(shift), scaled)
