//! Operations between the matrix products, as plain loops. In a function that may use vector
//! instructions, the compiler vectorises these loops.

/// Number of positions whose keys and values are converted to f32 at a time, so that they fit in
/// the L1 cache.
pub const TILE: usize = 32;

/// A way to multiply two numbers and add a third.
pub(crate) trait MultiplyAdd {
    /// Computes `a · b + c`.
    fn multiply_add(a: f32, b: f32, c: f32) -> f32;
}

/// Multiplies and adds in one instruction, with one rounding. Used only if the processor has such
/// an instruction, because the standard library's exact substitute would be slow.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) struct Fused;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl MultiplyAdd for Fused {
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Multiplies and adds in two instructions. Not needed on 64-bit Arm, where every processor can do
/// both in one instruction.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) struct Separate;

#[cfg(not(target_arch = "aarch64"))]
impl MultiplyAdd for Separate {
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// Returns the factor by which RMSNorm multiplies a row. If the sum of squares is too large for
/// f32, returns NaN instead of 0. With 0, a row of large numbers would silently become zeros.
#[inline(always)]
fn norm_scale<M: MultiplyAdd>(x: &[f32], eps: f32) -> f32 {
    let squares = dot::<M>(x, x);
    if squares.is_finite() { 1.0 / (squares / x.len() as f32 + eps).sqrt() } else { f32::NAN }
}

#[inline(always)]
pub(crate) fn rms_norm<M: MultiplyAdd>(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let scale = norm_scale::<M>(x, eps);
    for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * w;
    }
}

#[inline(always)]
pub(crate) fn rms_norm_in_place<M: MultiplyAdd>(x: &mut [f32], weight: &[f32], eps: f32) {
    let scale = norm_scale::<M>(x, eps);
    x.iter_mut().zip(weight).for_each(|(x, w)| *x = *x * scale * w);
}

#[inline(always)]
pub(crate) fn silu_gate<M: MultiplyAdd>(gate: &[f32], up: &[f32], out: &mut [f32]) {
    for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
        *out = gate / (1.0 + exp::<M>(-gate)) * up;
    }
}

/// Computes `e^(score − max)` for each score, in place, and returns the sum. Score `i` is always
/// added to partial sum `i % 16`, so appending scores of −∞ doesn't change the result.
#[inline(always)]
pub(crate) fn exp_sum_of_any<M: MultiplyAdd>(scores: &mut [f32], max: f32) -> f32 {
    let mut sums = [0f32; 16];
    for part in scores.chunks_mut(16) {
        if let Ok(part) = <&mut [f32; 16]>::try_from(&mut *part) {
            for (score, sum) in part.iter_mut().zip(&mut sums) {
                *score = exp::<M>(*score - max);
                *sum += *score;
            }
        } else {
            for (score, sum) in part.iter_mut().zip(&mut sums) {
                *score = exp::<M>(*score - max);
                *sum += *score;
            }
        }
    }
    halves(sums)
}

/// Constants of [`exp`].
pub(crate) mod exp_constants {
    /// Lowest `x` for which `exp` does not return 0.
    pub(crate) const LOWEST: f32 = -87.3;
    /// Highest `x` for which `exp` does not return infinity.
    pub(crate) const HIGHEST: f32 = 88.4;
    /// Adding this to a number below 2²² rounds it, because no bits are left for a fraction.
    pub(crate) const ROUND: f32 = 12_582_912.0;
    /// The first of two parts of ln 2. It has so few bits that its product with the exponent `n` is
    /// exact.
    pub(crate) const LN2_HIGH: f32 = 0.693_359_4;
    pub(crate) const LN2_LOW: f32 = -2.121_944_4e-4;
    /// The Taylor series of e^f for |f| ≤ 0.35, last term first. The first omitted term is below
    /// 2·10⁻⁸.
    pub(crate) const SERIES: [f32; 8] =
        [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
}

/// Computes `e^x` to within two units in the last place. Returns 0 below −87.3, where normal
/// numbers end, and infinity above 88.4.
///
/// This function uses `e^x = 2^n · e^f`. The integer `n` goes into the exponent bits, and a
/// polynomial gives `e^f` for `|f|` ≤ 0.35.
#[inline(always)]
pub(crate) fn exp<M: MultiplyAdd>(x: f32) -> f32 {
    use exp_constants::*;
    let clamped = x.clamp(LOWEST, HIGHEST);
    let shifted = M::multiply_add(clamped, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let f = M::multiply_add(n, -LN2_LOW, M::multiply_add(n, -LN2_HIGH, clamped));
    let mut p = SERIES[0];
    for &c in &SERIES[1..] {
        p = M::multiply_add(p, f, c);
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    let result = p * power;
    if x < LOWEST {
        0.0
    } else if x > HIGHEST {
        f32::INFINITY
    } else {
        result
    }
}

/// Computes the dot product of `a` and `b`, with the same order of additions as [`score_rows`].
#[inline(always)]
fn dot<M: MultiplyAdd>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest = a.remainder().iter().zip(b.remainder()).fold(0.0, |sum, (a, b)| sum + a * b);
    for (a, b) in a.zip(b) {
        for i in 0..16 {
            sums[i] = M::multiply_add(a[i], b[i], sums[i]);
        }
    }
    halves(sums) + rest
}

/// Returns the sum of 16 numbers: adds the two halves, then quarters, and so on, like the sum of a
/// vector register.
#[inline(always)]
pub(crate) fn halves(mut sums: [f32; 16]) -> f32 {
    for half in [8, 4, 2, 1] {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
    }
    sums[0]
}

#[inline(always)]
pub(crate) fn tile_scores_of_any<M: MultiplyAdd>(
    q: &[f32],
    k: &[f32],
    dim: usize,
    scale: f32,
    scores: &mut [f32],
) {
    for (j, k) in k.chunks_exact(dim).enumerate() {
        for (q, scores) in q.chunks_exact(dim).zip(scores.chunks_exact_mut(TILE)) {
            scores[j] = scale * dot::<M>(q, k);
        }
    }
}

#[inline(always)]
pub(crate) fn tile_scores_transposed_of_any<M: MultiplyAdd>(
    q: &[&[f32]],
    k: &[f32],
    scale: f32,
    scores: &mut [f32],
) {
    let mut twos = q.chunks_exact(2).zip(scores.chunks_exact_mut(2 * TILE));
    for (q, scores) in &mut twos {
        score_rows::<M, 2>(q.try_into().expect("two"), k, scale, scores);
    }
    if q.len() % 2 == 1 {
        let last = q.len() - 1;
        score_rows::<M, 1>(&[q[last]], k, scale, &mut scores[last * TILE..]);
    }
}

/// Computes the scores of `N` queries for a tile of transposed keys, `k [D, TILE]`. The queries'
/// sums stay in registers while each key is read once.
///
/// A query's score does not depend on `N`, to the last bit. Products are added into 16 sums, which
/// are then added in pairs, as in [`dot`].
#[inline(always)]
fn score_rows<M: MultiplyAdd, const N: usize>(
    q: &[&[f32]; N],
    k: &[f32],
    scale: f32,
    scores: &mut [f32],
) {
    let k: &[[f32; TILE]] = k.as_chunks().0;
    let whole = k.len() / 16 * 16;
    let mut waiting = [[[0f32; TILE]; N]; 3];
    let mut totals = [[0f32; TILE]; N];
    for (i, first) in [0, 4, 2, 6, 1, 5, 3, 7].into_iter().enumerate() {
        let (mut low, mut high) = ([[0f32; TILE]; N], [[0f32; TILE]; N]);
        for d in (first..whole).step_by(16) {
            for n in 0..N {
                for j in 0..TILE {
                    low[n][j] = M::multiply_add(q[n][d], k[d][j], low[n][j]);
                    high[n][j] = M::multiply_add(q[n][d + 8], k[d + 8][j], high[n][j]);
                }
            }
        }
        totals = sum_of(&low, &high);
        // The first half of a sum is in `waiting` until its second half is complete. Then the two
        // halves are added.
        let halves = i.trailing_ones() as usize;
        for waiting in &waiting[..halves] {
            totals = sum_of(waiting, &totals);
        }
        if halves < waiting.len() {
            waiting[halves] = totals;
        }
    }
    for n in 0..N {
        let mut rest = [0f32; TILE];
        for d in whole..k.len() {
            for j in 0..TILE {
                rest[j] += q[n][d] * k[d][j];
            }
        }
        for j in 0..TILE {
            scores[n * TILE + j] = scale * (totals[n][j] + rest[j]);
        }
    }
}

#[inline(always)]
fn sum_of<const N: usize>(a: &[[f32; TILE]; N], b: &[[f32; TILE]; N]) -> [[f32; TILE]; N] {
    let mut sum = *a;
    for n in 0..N {
        for j in 0..TILE {
            sum[n][j] += b[n][j];
        }
    }
    sum
}

#[inline(always)]
pub(crate) fn tile_sum_of_any<M: MultiplyAdd>(
    weights: &[f32],
    factors: &[f32],
    v: &[f32],
    dim: usize,
    out: &mut [f32],
) {
    let rows = weights.chunks_exact(TILE).zip(factors).zip(out.chunks_exact_mut(dim));
    for ((weights, &factor), out) in rows {
        let mut at = 0;
        // Keeps 32 sums in registers while the values are read.
        while at + 32 <= dim {
            let mut sums = [0f32; 32];
            for (sum, out) in sums.iter_mut().zip(&out[at..at + 32]) {
                *sum = factor * out;
            }
            for (v, &w) in v.chunks_exact(dim).zip(weights) {
                let v: &[f32; 32] = v[at..at + 32].try_into().expect("32 values");
                for i in 0..32 {
                    sums[i] = M::multiply_add(w, v[i], sums[i]);
                }
            }
            out[at..at + 32].copy_from_slice(&sums);
            at += 32;
        }
        for i in at..dim {
            let sum = v
                .chunks_exact(dim)
                .zip(weights)
                .fold(factor * out[i], |sum, (v, &w)| M::multiply_add(w, v[i], sum));
            out[i] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate() {
        let mut worst = 0f64;
        for i in -87_000..88_000 {
            let x = i as f32 / 1000.0;
            let (found, expected) = (f64::from(exp::<Fused>(x)), f64::from(x).exp());
            worst = worst.max(((found - expected) / expected).abs());
        }
        // The limit is two units in the last place, plus the omitted terms of the series.
        assert!(worst < 2.5e-7, "relative error {worst:e}");
        assert_eq!(exp::<Fused>(0.0), 1.0);
        assert_eq!(exp::<Fused>(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp::<Fused>(-200.0), 0.0);
        assert_eq!(exp::<Fused>(200.0), f32::INFINITY);
    }
}
