//! id: q8-as-u8
//! function: dot
//! says: Codes are taken as unsigned: `maddubs` reads its first operand as 0…255, so −1 becomes 255. Give it |q|, and let the activation take q's sign.
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let (&[d0, d1], q) = block.split_first_chunk().expect("a scale");
        let q = load(q.try_into().expect("32 codes"));
        let pairs = _mm256_maddubs_epi16(q, load_signed(p));
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        acc = _mm256_fmadd_ps(_mm256_mul_ps(halves([d0, d1]), _mm256_set1_ps(scale)), _mm256_cvtepi32_ps(fours), acc);
    }
    acc
