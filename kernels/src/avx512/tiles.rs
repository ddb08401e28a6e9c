//! Computes attention's scores, a tile of keys at a time, with 512-bit instructions. From the plain
//! loops in [`loops`](crate::loops), the compiler generates code that reduces each dot product
//! separately. Here, 16 sums are reduced at once. If the keys are transposed, no reduction is
//! needed, and four queries share each read of a key.

use std::arch::x86_64::*;

use crate::loops::TILE;

/// Number of elements in a vector. Heads whose size isn't a multiple of it use the plain loops.
pub(crate) const LANES: usize = 16;

/// Computes [`tile_scores`](crate::vector::tile_scores) for a `dim` that is a multiple of
/// [`LANES`].
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) fn tile_scores(q: &[f32], k: &[f32], dim: usize, scale: f32, scores: &mut [f32]) {
    let n = k.len() / dim;
    for first in (0..n).step_by(LANES) {
        let there = LANES.min(n - first);
        for (q, scores) in q.chunks_exact(dim).zip(scores.chunks_exact_mut(TILE)) {
            let mut sums = [_mm512_setzero_ps(); LANES];
            for d in (0..dim).step_by(LANES) {
                let q = load(q, d);
                for j in 0..LANES {
                    // Keys past the end repeat the last key, and their scores are discarded.
                    sums[j] =
                        _mm512_fmadd_ps(q, load(k, (first + j.min(there - 1)) * dim + d), sums[j]);
                }
            }
            let sums = _mm512_mul_ps(add_up(sums), _mm512_set1_ps(scale));
            let scores = &mut scores[first..first + there];
            // SAFETY: the mask has a bit for each number in `scores`.
            unsafe {
                _mm512_mask_storeu_ps(scores.as_mut_ptr(), u16::MAX >> (LANES - there), sums);
            };
        }
    }
}

/// Number of queries whose sums are in registers at the same time, for transposed keys and for
/// values.
pub(super) const QUERIES: usize = 4;

/// Computes [`tile_scores_transposed`](crate::vector::tile_scores_transposed) for heads whose size
/// is a multiple of [`LANES`].
#[target_feature(enable = "avx512f")]
pub(crate) fn tile_scores_transposed(q: &[&[f32]], k: &[f32], scale: f32, scores: &mut [f32]) {
    let k = k.as_chunks().0;
    let mut first = 0;
    while first < q.len() {
        let (q, scores) = (&q[first..], &mut scores[first * TILE..]);
        first += match q.len() {
            QUERIES.. => score_columns::<QUERIES>(q, k, scale, scores),
            3 => score_columns::<3>(q, k, scale, scores),
            2 => score_columns::<2>(q, k, scale, scores),
            _ => score_columns::<1>(q, k, scale, scores),
        };
    }
}

/// Computes the scores of the first `N` queries, and returns `N`. Products are added in the order
/// of the plain loops: into 16 sums, which are then added in pairs.
#[inline]
#[target_feature(enable = "avx512f")]
fn score_columns<const N: usize>(
    q: &[&[f32]],
    k: &[[f32; TILE]],
    scale: f32,
    scores: &mut [f32],
) -> usize {
    const HALVES: usize = TILE / LANES;
    let q: &[&[f32]; N] = q.first_chunk().expect("one per query");
    assert!(q.iter().all(|q| q.len() == k.len()), "queries as long as keys");
    let zeros = [[_mm512_setzero_ps(); HALVES]; N];
    let mut waiting = [zeros; 3];
    for (i, first) in [0, 4, 2, 6, 1, 5, 3, 7].into_iter().enumerate() {
        let mut sums = [zeros; 2];
        for from in (first..k.len()).step_by(LANES) {
            for (eight, sums) in sums.iter_mut().enumerate() {
                let d = from + 8 * eight;
                let keys = [load(&k[d], 0), load(&k[d], LANES)];
                for n in 0..N {
                    // SAFETY: the queries are as long as `k`, and `d` is an index of `k`.
                    let x = _mm512_set1_ps(unsafe { *q[n].get_unchecked(d) });
                    for half in 0..HALVES {
                        sums[n][half] = _mm512_fmadd_ps(x, keys[half], sums[n][half]);
                    }
                }
            }
        }
        let [mut totals, high] = sums;
        for n in 0..N {
            for half in 0..HALVES {
                totals[n][half] = _mm512_add_ps(totals[n][half], high[n][half]);
            }
        }
        // The first half of a sum is in `waiting` until its second half is complete. Then the two
        // halves are added.
        let halves = i.trailing_ones() as usize;
        for waiting in &waiting[..halves] {
            for n in 0..N {
                for half in 0..HALVES {
                    totals[n][half] = _mm512_add_ps(waiting[n][half], totals[n][half]);
                }
            }
        }
        if halves < waiting.len() {
            waiting[halves] = totals;
            continue;
        }
        for n in 0..N {
            for half in 0..HALVES {
                let scaled = _mm512_mul_ps(totals[n][half], _mm512_set1_ps(scale));
                let scores = &mut scores[n * TILE + half * LANES..][..LANES];
                // SAFETY: `scores` has 16 numbers.
                unsafe { _mm512_storeu_ps(scores.as_mut_ptr(), scaled) };
            }
        }
    }
    N
}

/// Loads 16 numbers, starting at index `at`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(x: &[f32], at: usize) -> __m512 {
    // SAFETY: the slice has 16 numbers.
    unsafe { _mm512_loadu_ps(x[at..at + LANES].as_ptr()) }
}

/// Returns the sum of each vector's numbers, in the order of the plain loops: adds numbers that are
/// 8 apart, then 4, 2 and 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_up(v: [__m512; LANES]) -> __m512 {
    let eights = |a, b| {
        _mm512_add_ps(
            _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b),
            _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b),
        )
    };
    let fours = |a, b| {
        _mm512_add_ps(
            _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b),
            _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b),
        )
    };
    // Each lane has the sums of one vector.
    let lanes = |i: usize| fours(eights(v[i], v[i + 4]), eights(v[i + 8], v[i + 12]));
    let twos = |a, b| {
        _mm512_add_ps(
            _mm512_shuffle_ps::<0b01_00_01_00>(a, b),
            _mm512_shuffle_ps::<0b11_10_11_10>(a, b),
        )
    };
    let (first, second) = (twos(lanes(0), lanes(1)), twos(lanes(2), lanes(3)));
    _mm512_add_ps(
        _mm512_shuffle_ps::<0b10_00_10_00>(first, second),
        _mm512_shuffle_ps::<0b11_01_11_01>(first, second),
    )
}
