//! Computes the scores of queries for the keys of a q8_0 cache. Each row of the cache is a key.
//! Eight rows are processed at a time, so that their sums are reduced at once.

use std::arch::x86_64::*;

use super::lanes::load_floats;
use crate::{
    loops::TILE,
    q8_rows::{BLOCK, Q8Rows, rows, scale},
};

/// Number of rows whose sums are reduced at once.
const ROWS: usize = 8;
/// Number of queries that share a row's conversion to f32.
const QUERIES: usize = 3;
/// Number of elements of a register.
const LANES: usize = 8;

/// Computes [`tile_scores_q8`](crate::vector::tile_scores_q8) for all whole groups of [`ROWS`]
/// rows. `dim` must be a multiple of 16. Returns the number of rows that it has processed.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn tile_scores(
    q: &[&[f32]],
    keys: Q8Rows<'_>,
    factor: f32,
    scores: &mut [f32],
) -> usize {
    let n = keys.words.len() / crate::q8_rows::row_words(keys.dim) / ROWS * ROWS;
    for from in (0..n).step_by(ROWS) {
        let keys = keys.part(from, ROWS);
        for (i, q) in q.chunks(QUERIES).enumerate() {
            let scores = &mut scores[i * QUERIES * TILE + from..];
            match q {
                [a, b, c] => of(&[a, b, c], keys, factor, scores),
                [a, b] => of(&[a, b], keys, factor, scores),
                [a] => of(&[a], keys, factor, scores),
                _ => unreachable!("at most three queries"),
            }
        }
    }
    n
}

/// Computes the scores of `N` queries and [`ROWS`] keys.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn of<const N: usize>(q: &[&[f32]; N], keys: Q8Rows<'_>, factor: f32, scores: &mut [f32]) {
    let mut sums = [[_mm256_setzero_ps(); ROWS]; N];
    for (j, (scales, codes)) in rows(keys).enumerate() {
        let (mut low, mut high) = ([_mm256_setzero_ps(); N], [_mm256_setzero_ps(); N]);
        for (b, codes) in codes.chunks(BLOCK).enumerate() {
            let scale = _mm256_set1_ps(scale(u16::from_ne_bytes(scales[b])));
            for (i, codes) in codes.as_chunks::<{ 2 * LANES }>().0.iter().enumerate() {
                let (codes, at) = (codes.as_chunks::<LANES>().0, b * BLOCK + i * 2 * LANES);
                let (k_low, k_high) = (widen(scale, &codes[0]), widen(scale, &codes[1]));
                for n in 0..N {
                    let q: &[[f32; LANES]] = q[n][at..].as_chunks().0;
                    low[n] = _mm256_fmadd_ps(load_floats(&q[0]), k_low, low[n]);
                    high[n] = _mm256_fmadd_ps(load_floats(&q[1]), k_high, high[n]);
                }
            }
        }
        for n in 0..N {
            sums[n][j] = _mm256_add_ps(low[n], high[n]);
        }
    }
    for n in 0..N {
        let out = scores[n * TILE..].first_chunk_mut::<ROWS>().expect("a row of scores");
        let sums = _mm256_mul_ps(_mm256_set1_ps(factor), add_up(sums[n]));
        // SAFETY: `out` has eight numbers.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), sums) };
    }
}

/// Returns eight codes, each multiplied by `scale`.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(scale: __m256, codes: &[u8; LANES]) -> __m256 {
    let codes = _mm_cvtsi64_si128(i64::from_le_bytes(*codes));
    _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)))
}

/// Returns the sum of each register: adds halves, then quarters, as in [`loops`](crate::loops).
#[inline]
#[target_feature(enable = "avx2")]
fn add_up(rows: [__m256; ROWS]) -> __m256 {
    let mut fours = [_mm256_setzero_ps(); 4];
    for i in 0..4 {
        let (a, b) = (rows[i], rows[i + 4]);
        fours[i] = _mm256_add_ps(
            _mm256_permute2f128_ps::<0x20>(a, b),
            _mm256_permute2f128_ps::<0x31>(a, b),
        );
    }
    let twos = [0, 2].map(|i| {
        let (a, b) = (_mm256_castps_pd(fours[i]), _mm256_castps_pd(fours[i + 1]));
        let (low, high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        _mm256_add_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high))
    });
    _mm256_add_ps(
        _mm256_shuffle_ps::<0x88>(twos[0], twos[1]),
        _mm256_shuffle_ps::<0xdd>(twos[0], twos[1]),
    )
}
