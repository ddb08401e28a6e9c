//! id: maddubs-saturation
//! function: dot
//! says: Two products of a code moved to 0…255 with an activation are added up in 16 bits, and saturate at 32,767: keep one side at most 128 in magnitude.
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let (&[d0, d1], q) = block.split_first_chunk().expect("a scale");
        let q = load(q.try_into().expect("32 codes"));
        let p = load_signed(p);
        let moved = _mm256_xor_si256(q, _mm256_set1_epi8(-128));
        let ones = _mm256_set1_epi16(1);
        let fours = _mm256_madd_epi16(_mm256_maddubs_epi16(moved, p), ones);
        let offset = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(64), p), ones);
        let fours = _mm256_sub_epi32(fours, _mm256_add_epi32(offset, offset));
        acc = _mm256_fmadd_ps(_mm256_mul_ps(halves([d0, d1]), _mm256_set1_ps(scale)), _mm256_cvtepi32_ps(fours), acc);
    }
    acc
