//! The small work between the matrices, in f32: norms, the gate, and attention's tiles.
//!
//! Each function is written once, as plain loops, and compiled once for each instruction set:
//! within a function that may use AVX-512 or AVX2, the compiler turns these loops into vector
//! instructions. That is worth having where the loop has no trick to it; products of quantized
//! weights have, and are written by hand in the files beside this one.

#![allow(
    unsafe_code,
    reason = "a function compiled for an instruction set may only be called where that set was found"
)]

use std::sync::OnceLock;

use half::{f16, slice::HalfFloatSliceExt};

#[cfg(target_arch = "x86_64")]
use crate::avx512::tiles;

/// Keys and values are taken this many positions at a time, as f32, so that they stay in the
/// first-level cache.
pub const TILE: usize = 32;

/// What this machine's vector unit has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Baseline
    })
}

/// `a · b + c`, in one instruction where there is one; without it the library's exact substitute
/// would be slow.
#[inline(always)]
fn fused<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Compiles a function for every level and chooses among them at run time.
macro_rules! for_each_level {
    ($(#[$doc:meta])* $name:ident => $body:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
            fn avx512($($arg: $type),*) $(-> $out)? { $body::<true>($($arg),*) }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) $(-> $out)? { $body::<true>($($arg),*) }
            match level() {
                Level::Baseline => $body::<{ cfg!(target_arch = "aarch64") }>($($arg),*),
                // SAFETY: this level is chosen only where its instructions were found.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}

for_each_level! {
    /// RMSNorm of one row: `x [n]`, `weight [n]` → `out [n]`.
    rms_norm => rms_norm_body(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32])
}
for_each_level! {
    /// RMSNorm of one head, in place: `x [n]`, `weight [n]`.
    rms_norm_in_place => rms_norm_in_place_body(x: &mut [f32], weight: &[f32], eps: f32)
}
for_each_level! {
    /// `out = silu(gate) · up`, all `[n]`.
    silu_gate => silu_gate_body(gate: &[f32], up: &[f32], out: &mut [f32])
}
for_each_level! {
    /// Each score `s` becomes `e^(s − max)`; returns their sum.
    exp_sum => exp_sum_body(scores: &mut [f32], max: f32) -> f32
}
for_each_level! {
    /// `scores[g, j] = scale · q[g]·k[j]`: `q [G, D]`, `k [n, D]` → `scores [G, TILE]`, of which
    /// the first `n` of each row are written.
    tile_scores_plain => tile_scores_body(q: &[f32], k: &[f32], dim: usize, scale: f32, scores: &mut [f32])
}
for_each_level! {
    /// The same for many queries and a full tile whose keys are transposed: `q [G, D]`,
    /// `k [D, TILE]` → `scores [G, TILE]`.
    tile_scores_transposed => tile_scores_transposed_body(q: &[&[f32]], k: &[f32], scale: f32, scores: &mut [f32])
}
for_each_level! {
    /// `out[g] = factor[g] · out[g] + Σⱼ weights[g, j] · v[j]`: `weights [G, TILE]`, `v [n, D]`,
    /// `out [G, D]`.
    tile_sum_plain => tile_sum_body(weights: &[f32], factors: &[f32], v: &[f32], dim: usize, out: &mut [f32])
}

/// `scores[g, j] = scale · q[g]·k[j]`: `q [G, D]`, `k [n, D]` → `scores [G, TILE]`, of which the
/// first `n` of each row are written.
pub fn tile_scores(q: &[f32], k: &[f32], dim: usize, scale: f32, scores: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 && dim.is_multiple_of(tiles::LANES) {
        // SAFETY: this level is chosen only where its instructions were found.
        return unsafe { tiles::tile_scores(q, k, dim, scale, scores) };
    }
    tile_scores_plain(q, k, dim, scale, scores);
}

/// `out[g] = factor[g] · out[g] + Σⱼ weights[g, j] · v[j]`: `weights [G, TILE]`, `v [n, D]`,
/// `out [G, D]`.
pub fn tile_sum(weights: &[f32], factors: &[f32], v: &[f32], dim: usize, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 && dim.is_multiple_of(tiles::LANES) {
        // SAFETY: as above.
        return unsafe { tiles::tile_sum(weights, factors, v, dim, out) };
    }
    tile_sum_plain(weights, factors, v, dim, out);
}

#[inline(always)]
fn mean_square<const FMA: bool>(x: &[f32]) -> f32 {
    dot::<FMA>(x, x) / x.len() as f32
}

#[inline(always)]
fn rms_norm_body<const FMA: bool>(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let scale = 1.0 / (mean_square::<FMA>(x) + eps).sqrt();
    for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * w;
    }
}

#[inline(always)]
fn rms_norm_in_place_body<const FMA: bool>(x: &mut [f32], weight: &[f32], eps: f32) {
    let scale = 1.0 / (mean_square::<FMA>(x) + eps).sqrt();
    x.iter_mut().zip(weight).for_each(|(x, w)| *x = *x * scale * w);
}

#[inline(always)]
fn silu_gate_body<const FMA: bool>(gate: &[f32], up: &[f32], out: &mut [f32]) {
    for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
        *out = gate / (1.0 + exp::<FMA>(-gate)) * up;
    }
}

#[inline(always)]
fn exp_sum_body<const FMA: bool>(scores: &mut [f32], max: f32) -> f32 {
    let mut sums = [0f32; 16];
    let mut parts = scores.chunks_exact_mut(16);
    for part in &mut parts {
        for (score, sum) in part.iter_mut().zip(&mut sums) {
            *score = exp::<FMA>(*score - max);
            *sum += *score;
        }
    }
    let mut rest = 0.0;
    for score in parts.into_remainder() {
        *score = exp::<FMA>(*score - max);
        rest += *score;
    }
    sums.iter().sum::<f32>() + rest
}

/// `e^x` within two units in the last place; 0 below −87, where the smallest normal numbers end,
/// infinity above 88.
///
/// `e^x = 2^n · 2^f` with `n` a whole number, which goes into the exponent bits, and `f` in −½…½,
/// for which a polynomial serves.
#[inline(always)]
fn exp<const FMA: bool>(x: f32) -> f32 {
    /// Added to a number below 2²² it pushes all but the whole part out of the fraction bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with so few bits that n times it is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.3, 88.4);
    let shifted = fused::<FMA>(clamped, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let f = fused::<FMA>(n, -LN2_LOW, fused::<FMA>(n, -LN2_HIGH, clamped));
    // The Taylor series of e^f, |f| ≤ 0.35; the first term left out is below 2·10⁻⁸.
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = fused::<FMA>(p, f, c);
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    let result = p * power;
    if x < -87.3 {
        0.0
    } else if x > 88.4 {
        f32::INFINITY
    } else {
        result
    }
}

#[inline(always)]
fn dot<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 16];
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for i in 0..16 {
            sums[i] = fused::<FMA>(a[i], b[i], sums[i]);
        }
    }
    // Halves, then quarters: the order in which a vector register is summed.
    for width in [8, 4, 2, 1] {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
    }
    sums[0] + rest
}

#[inline(always)]
fn tile_scores_body<const FMA: bool>(
    q: &[f32],
    k: &[f32],
    dim: usize,
    scale: f32,
    scores: &mut [f32],
) {
    for (j, k) in k.chunks_exact(dim).enumerate() {
        for (q, scores) in q.chunks_exact(dim).zip(scores.chunks_exact_mut(TILE)) {
            scores[j] = scale * dot::<FMA>(q, k);
        }
    }
}

#[inline(always)]
fn tile_scores_transposed_body<const FMA: bool>(
    q: &[&[f32]],
    k: &[f32],
    scale: f32,
    scores: &mut [f32],
) {
    let mut groups = q.chunks_exact(4).zip(scores.chunks_exact_mut(4 * TILE));
    for (q, scores) in &mut groups {
        score_rows::<FMA, 4>(q.try_into().expect("four"), k, scale, scores);
    }
    let done = q.len() / 4 * 4;
    for (q, scores) in q[done..].iter().zip(scores[done * TILE..].chunks_exact_mut(TILE)) {
        score_rows::<FMA, 1>(&[q], k, scale, scores);
    }
}

/// Sums of `N` queries stay in registers while the keys go by once.
#[inline(always)]
fn score_rows<const FMA: bool, const N: usize>(
    q: &[&[f32]; N],
    k: &[f32],
    scale: f32,
    scores: &mut [f32],
) {
    let mut sums = [[0f32; TILE]; N];
    for (d, k) in k.chunks_exact(TILE).enumerate() {
        for n in 0..N {
            let x = q[n][d];
            for j in 0..TILE {
                sums[n][j] = fused::<FMA>(x, k[j], sums[n][j]);
            }
        }
    }
    for n in 0..N {
        for j in 0..TILE {
            scores[n * TILE + j] = scale * sums[n][j];
        }
    }
}

#[inline(always)]
fn tile_sum_body<const FMA: bool>(
    weights: &[f32],
    factors: &[f32],
    v: &[f32],
    dim: usize,
    out: &mut [f32],
) {
    let rows = weights.chunks_exact(TILE).zip(factors).zip(out.chunks_exact_mut(dim));
    for ((weights, &factor), out) in rows {
        let mut at = 0;
        // 32 sums stay in registers while the values go by.
        while at + 32 <= dim {
            let mut sums = [0f32; 32];
            for (sum, out) in sums.iter_mut().zip(&out[at..at + 32]) {
                *sum = factor * out;
            }
            for (v, &w) in v.chunks_exact(dim).zip(weights) {
                let v: &[f32; 32] = v[at..at + 32].try_into().expect("32 values");
                for i in 0..32 {
                    sums[i] = fused::<FMA>(w, v[i], sums[i]);
                }
            }
            out[at..at + 32].copy_from_slice(&sums);
            at += 32;
        }
        for i in at..dim {
            let sum = v
                .chunks_exact(dim)
                .zip(weights)
                .fold(factor * out[i], |sum, (v, &w)| fused::<FMA>(w, v[i], sum));
            out[i] = sum;
        }
    }
}

/// `x [n]` as f32.
///
/// # Panics
/// If there is no room for as many.
pub fn widen_f16(x: &[f16], out: &mut [f32]) {
    match level() {
        // SAFETY: this level is chosen only where its instructions were found.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { tiles::widen(x, out) },
        _ => x.convert_to_f32_slice(out),
    }
}

/// `values [n]` as f16, rounded to the nearest.
pub fn narrow(values: &[f32], out: &mut [f16]) {
    out.convert_from_f32_slice(values);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_everywhere() {
        let mut worst = 0f64;
        for i in -87_000..88_000 {
            let x = i as f32 / 1000.0;
            let (found, expected) = (f64::from(exp::<true>(x)), f64::from(x).exp());
            worst = worst.max(((found - expected) / expected).abs());
        }
        // Half a unit for each of the last two roundings, and what the series leaves out.
        assert!(worst < 2.5e-7, "relative error {worst:e}");
        assert_eq!(exp::<true>(0.0), 1.0);
        assert_eq!(exp::<true>(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp::<true>(-200.0), 0.0);
        assert_eq!(exp::<true>(200.0), f32::INFINITY);
    }

    #[test]
    fn levels_agree_with_the_plain_loops() {
        let x = |n: usize, seed: usize| {
            (0..n).map(|i| ((i * 37 + seed * 101) % 97) as f32 / 48.0 - 1.0).collect::<Vec<_>>()
        };
        let close = |found: &[f32], expected: &[f32]| {
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 2e-5, "{a} {b}");
            }
        };
        for (heads, n, dim) in
            [(3, 7, 40), (1, 32, 64), (9, 17, 64), (6, 16, 80), (4, 1, 128), (2, 31, 16)]
        {
            let (q, k) = (x(heads * dim, 1), x(n * dim, 2));
            let (mut scores, mut plain) = (vec![7.0; heads * TILE], vec![7.0; heads * TILE]);
            tile_scores(&q, &k, dim, 0.5, &mut scores);
            tile_scores_body::<false>(&q, &k, dim, 0.5, &mut plain);
            close(&scores, &plain);
            let (v, factors) = (x(n * dim, 3), x(heads, 5));
            let (mut out, mut expected) = (x(heads * dim, 4), x(heads * dim, 4));
            tile_sum(&scores, &factors, &v, dim, &mut out);
            tile_sum_body::<false>(&scores, &factors, &v, dim, &mut expected);
            close(&out, &expected);
        }
    }

    #[test]
    fn half_precision_is_widened_exactly() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|x| !x.is_nan()).collect();
        let mut out = vec![0.0; halves.len()];
        widen_f16(&halves, &mut out);
        assert!(halves.iter().zip(&out).all(|(x, out)| x.to_f32().to_bits() == out.to_bits()));
    }
}
