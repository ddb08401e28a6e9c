//! id: simd-sign-exchanged
//! function: dot
//! says: The arguments of `sign_epi8` are exchanged: `sign_epi8(p, q)` gives the activation the code's sign.
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let (&[d0, d1], q) = block.split_first_chunk().expect("a scale");
        let q = load(q.try_into().expect("32 codes"));
        let p = _mm256_sign_epi8(q, load_signed(p));
        let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), p);
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        let scale = _mm256_mul_ps(halves([d0, d1]), _mm256_set1_ps(scale));
        acc = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(fours), acc);
    }
    acc
