//! function: dot
//! how: both sides widened to 16 bits, then one `madd`
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let q = load(block[2..].try_into().expect("32 codes"));
        let p = load_signed(p);
        let low = _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm256_castsi256_si128(q)), _mm256_cvtepi8_epi16(_mm256_castsi256_si128(p)));
        let high = _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(q)), _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(p)));
        acc = _mm256_fmadd_ps(_mm256_mul_ps(halves([block[0], block[1]]), _mm256_set1_ps(scale)), _mm256_cvtepi32_ps(_mm256_add_epi32(low, high)), acc);
    }
    acc
