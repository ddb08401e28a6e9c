//! id: offset-missing
//! function: dot
//! says: You move codes to 0…255 by adding 128 and never take 128 · Σ p off again.
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let (&[d0, d1], q) = block.split_first_chunk().expect("a scale");
        let q = load(q.try_into().expect("32 codes"));
        let p = load_signed(p);
        let q = _mm256_xor_si256(q, _mm256_set1_epi8(-128));
        let low = _mm256_maddubs_epi16(_mm256_and_si256(q, _mm256_set1_epi8(127)), p);
        let high = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16::<1>(q), _mm256_set1_epi8(64)), p);
        let ones = _mm256_set1_epi16(1);
        let high = _mm256_madd_epi16(high, ones);
        let fours = _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_add_epi32(high, high));
        acc = _mm256_fmadd_ps(_mm256_mul_ps(halves([d0, d1]), _mm256_set1_ps(scale)), _mm256_cvtepi32_ps(fours), acc);
    }
    acc
