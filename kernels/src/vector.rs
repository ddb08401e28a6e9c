//! Operations between the matrix products, in f32: norms, the gate, and attention's tiles.
//!
//! Each function is written once, as a plain loop in `loops`, and compiled once for each vector
//! unit: in a function that may use AVX-512 or AVX2, the compiler turns the loop into vector
//! instructions. That works for simple loops. Products of quantized weights need special
//! instructions, so they are written by hand in the other folders.
//!
//! The whole process uses the same unit: the machine's best, or the unit of the rung (set of
//! kernels) that the environment names ([`VARIABLE`](crate::rung::VARIABLE)). The unit doesn't
//! depend on an engine's plan, so two engines with different rungs in one process don't change each
//! other's results.

#![allow(
    unsafe_code,
    reason = "a function compiled for an instruction set may only be called where that set was \
              found"
)]

use std::sync::atomic::{AtomicU8, Ordering};

use half::{f16, slice::HalfFloatSliceExt};

pub use crate::loops::TILE;
#[cfg(target_arch = "x86_64")]
use crate::{
    avx2,
    avx512::{exp, tiles, values},
    prefetch::prefetch_next,
};
use crate::{q8_rows::Q8Rows, rung::Rung};

/// The vector unit for which the loops are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Unit {
    /// The instructions that every processor of this architecture has. On 64-bit Arm they include
    /// NEON.
    Plain = 1,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Unit {
    fn of(rung: Rung) -> Self {
        match rung {
            #[cfg(target_arch = "x86_64")]
            Rung::Avx2 => Self::Avx2,
            #[cfg(target_arch = "x86_64")]
            Rung::Avx512Vnni | Rung::Amx => Self::Avx512,
            _ => Self::Plain,
        }
    }

    /// Returns the unit of this process: the unit of the rung that the environment names, or else
    /// the best.
    #[inline]
    fn in_use() -> Self {
        match IN_USE.load(Ordering::Relaxed) {
            0 => {
                let rung = Rung::from_environment().unwrap_or_else(|_| Rung::best());
                use_rung(rung);
                Self::of(rung)
            }
            #[cfg(target_arch = "x86_64")]
            unit if unit == Self::Avx2 as u8 => Self::Avx2,
            #[cfg(target_arch = "x86_64")]
            unit if unit == Self::Avx512 as u8 => Self::Avx512,
            _ => Self::Plain,
        }
    }
}

/// A [`Unit`], or 0 before the first use. It only selects code, and guards no data, so it needs no
/// memory ordering.
static IN_USE: AtomicU8 = AtomicU8::new(0);

/// Makes all threads use the unit of this rung for every function of this module from now on. This
/// is for tests that compare units. An engine never calls it.
///
/// # Panics
/// If this machine cannot run the rung.
#[doc(hidden)]
pub fn use_rung(rung: Rung) {
    assert!(rung.is_available(), "this machine's processor lacks the instructions of {rung}");
    IN_USE.store(Unit::of(rung) as u8, Ordering::Relaxed);
}

/// Compiles loops for every unit. The functions in the module `on` take the unit as their first
/// argument. The public functions with the same names use the unit of this process.
macro_rules! for_each_unit {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
        $(
            $(#[$doc])*
            pub fn $name($($arg: $type),*) $(-> $out)? {
                on::$name(Unit::in_use(), $($arg),*)
            }
        )*

        mod on {
            use super::Unit;
            #[cfg(target_arch = "x86_64")]
            use crate::loops::Fused;
            #[cfg(target_arch = "aarch64")]
            use crate::loops::Fused as OnEveryProcessor;
            #[cfg(not(target_arch = "aarch64"))]
            use crate::loops::Separate as OnEveryProcessor;
            use crate::q8_rows::Q8Rows;
            mod loops {
                pub(super) use crate::{loops::*, q8_rows::*};
            }

            $(
                pub(super) fn $name(unit: Unit, $($arg: $type),*) $(-> $out)? {
                    #[cfg(target_arch = "x86_64")]
                    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
                    fn avx512($($arg: $type),*) $(-> $out)? { loops::$name::<Fused>($($arg),*) }
                    #[cfg(target_arch = "x86_64")]
                    #[target_feature(enable = "avx2,fma")]
                    fn avx2($($arg: $type),*) $(-> $out)? { loops::$name::<Fused>($($arg),*) }
                    match unit {
                        Unit::Plain => loops::$name::<OnEveryProcessor>($($arg),*),
                        // SAFETY: a unit is chosen only if the processor has its rung's
                        // instructions.
                        #[cfg(target_arch = "x86_64")]
                        Unit::Avx2 => unsafe { avx2($($arg),*) },
                        // SAFETY: as above.
                        #[cfg(target_arch = "x86_64")]
                        Unit::Avx512 => unsafe { avx512($($arg),*) },
                    }
                }
            )*
        }
    };
}

for_each_unit! {
    /// Computes RMSNorm of one row: `x [n]`, `weight [n]` → `out [n]`. The result is all NaN if the
    /// sum of squares is NaN or too large.
    rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]);
    /// Computes [`rms_norm`] of one head, in place: `x [n]`, `weight [n]`.
    rms_norm_in_place(x: &mut [f32], weight: &[f32], eps: f32);
    /// Computes `out = silu(gate) · up`, all `[n]`.
    silu_gate(gate: &[f32], up: &[f32], out: &mut [f32]);
    /// Computes [`exp_sum`] with plain loops.
    exp_sum_of_any(scores: &mut [f32], max: f32) -> f32;
    /// Computes [`tile_scores`] for heads of any size.
    tile_scores_of_any(q: &[f32], k: &[f32], dim: usize, scale: f32, scores: &mut [f32]);
    /// Computes [`tile_scores_transposed`] for heads of any size.
    tile_scores_transposed_of_any(q: &[&[f32]], k: &[f32], scale: f32, scores: &mut [f32]);
    /// Computes [`tile_sum`] for heads of any size.
    tile_sum_of_any(weights: &[f32], factors: &[f32], v: &[f32], dim: usize, out: &mut [f32]);
    /// Converts `rows [n, D]` to f32: `out [n, D]`. This is exact: a code times its scale has at
    /// most 18 bits, and an f32 holds 24.
    widen_q8(rows: Q8Rows<'_>, out: &mut [f32]);
    /// Computes [`tile_scores_q8`] with plain loops.
    tile_scores_q8_of_any(q: &[&[f32]], keys: Q8Rows<'_>, scale: f32, scores: &mut [f32]);
    /// Computes the same as [`tile_sum`] with the widened `values [n, D]`, to the last bit.
    tile_sum_q8(weights: &[f32], factors: &[f32], values: Q8Rows<'_>, out: &mut [f32]);
    /// Quantizes one row `values [D]` to `row [row_words(D)]`. A block's scale is its largest
    /// magnitude divided by 127, rounded down to f16. If a number of the block is NaN or infinite,
    /// or its magnitude is above about 8.3 million, the scale is NaN, and so is the whole block.
    narrow_q8(values: &[f32], row: &mut [u32]);
}

/// Replaces each score `s` with `e^(s − max)`, and returns the sum of the results.
pub fn exp_sum(scores: &mut [f32], max: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if Unit::in_use() == Unit::Avx512 {
        // SAFETY: a unit is in use only if the processor has its rung's instructions.
        return unsafe { exp::exp_sum(scores, max) };
    }
    exp_sum_of_any(scores, max)
}

/// Computes `scores[g, j] = scale · q[g]·k[j]`: `q [G, D]`, `k [n, D]` → `scores [G, TILE]`. Writes
/// the first `n` scores of each row.
pub fn tile_scores(q: &[f32], k: &[f32], dim: usize, scale: f32, scores: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if Unit::in_use() == Unit::Avx512 && dim.is_multiple_of(tiles::LANES) {
        // SAFETY: a unit is in use only if the processor has its rung's instructions.
        return unsafe { tiles::tile_scores(q, k, dim, scale, scores) };
    }
    tile_scores_of_any(q, k, dim, scale, scores);
}

/// Computes [`tile_scores`] for many queries and a full tile of transposed keys: `q [G, D]`,
/// `k [D, TILE]` → `scores [G, TILE]`.
pub fn tile_scores_transposed(q: &[&[f32]], k: &[f32], scale: f32, scores: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if Unit::in_use() == Unit::Avx512 && (k.len() / TILE).is_multiple_of(tiles::LANES) {
        // SAFETY: as above.
        return unsafe { tiles::tile_scores_transposed(q, k, scale, scores) };
    }
    tile_scores_transposed_of_any(q, k, scale, scores);
}

/// Computes the same as [`tile_scores`] with the widened `keys [n, D]`, to the last bit. `q` is
/// `[G][D]`.
pub fn tile_scores_q8(q: &[&[f32]], keys: Q8Rows<'_>, scale: f32, scores: &mut [f32]) {
    let done = 0;
    #[cfg(target_arch = "x86_64")]
    let done = if Unit::in_use() != Unit::Plain && keys.dim.is_multiple_of(16) {
        // SAFETY: a unit is in use only if the processor has its rung's instructions, and AVX-512
        // includes AVX2.
        unsafe { avx2::q8_rows::tile_scores(q, keys, scale, scores) }
    } else {
        done
    };
    let left = keys.behind(done, usize::MAX);
    if !left.words.is_empty() {
        tile_scores_q8_of_any(q, left, scale, &mut scores[done..]);
    }
}

/// Computes `out[g] = factors[g] · out[g] + Σⱼ weights[g, j] · v[j]`: `weights [G, TILE]`,
/// `v [n, D]`, `out [G, D]`.
pub fn tile_sum(weights: &[f32], factors: &[f32], v: &[f32], dim: usize, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if Unit::in_use() == Unit::Avx512 && dim.is_multiple_of(tiles::LANES) {
        // SAFETY: as above.
        return unsafe { values::tile_sum(weights, factors, v, dim, out) };
    }
    tile_sum_of_any(weights, factors, v, dim, out);
}

/// Converts `x [n]` to f32, exactly.
///
/// # Panics
/// If `out` doesn't have the length of `x`.
pub fn widen_f16(x: &[f16], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "lengths of the input and of out");
    match Unit::in_use() {
        Unit::Plain if cfg!(target_arch = "x86_64") => {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x.to_f32_const());
        }
        // SAFETY: a unit is in use only if the processor has its rung's instructions.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx512 => unsafe { values::widen(x, out) },
        // SAFETY: as above. The crate `half` would call a function for every eight numbers.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx2 => unsafe { avx2::float::widen(x, out) },
        // On 64-bit Arm, the crate `half` uses the instruction for this conversion.
        _ => x.convert_to_f32_slice(out),
    }
}

/// Prefetches `x`, which will be read next, if that helps. `in_a_row` means that `x` directly
/// follows the memory that is being read now. Some processors prefetch such memory by themselves.
pub fn prefetch<T>(x: &[T], in_a_row: bool) {
    #[cfg(target_arch = "x86_64")]
    if Unit::in_use() == Unit::Avx512 {
        prefetch_next(x.as_ptr().cast(), size_of_val(x), in_a_row);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, in_a_row);
}

/// Converts `values [n]` to f16, rounded to nearest.
///
/// # Panics
/// If `out` doesn't have the length of `values`.
pub fn narrow(values: &[f32], out: &mut [f16]) {
    assert_eq!(values.len(), out.len(), "lengths of the input and of out");
    match Unit::in_use() {
        Unit::Plain if cfg!(target_arch = "x86_64") => {
            out.iter_mut().zip(values).for_each(|(out, &x)| *out = f16::from_f32_const(x));
        }
        _ => out.convert_from_f32_slice(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units() -> Vec<Unit> {
        let mut units: Vec<Unit> = Rung::available().into_iter().map(Unit::of).collect();
        units.dedup();
        units
    }

    fn numbers(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 37 + seed * 101) % 97) as f32 / 48.0 - 1.0).collect()
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f32], unit: Unit) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 2e-5, "{unit:?}: {a}, expected {b}");
        }
    }

    #[test]
    fn norms_gates_and_softmax_match_on_all_units() {
        for (unit, n) in
            units().into_iter().flat_map(|unit| [1, 15, 16, 61, 576].map(|n| (unit, n)))
        {
            let (x, weight) = (numbers(n, 1), numbers(n, 2));
            let scale = 1.0 / (x.iter().map(|x| x * x).sum::<f32>() / n as f32 + 1e-5).sqrt();
            let expected: Vec<f32> = x.iter().zip(&weight).map(|(x, w)| x * scale * w).collect();
            let mut out = vec![f32::NAN; n];
            on::rms_norm(unit, &x, &weight, 1e-5, &mut out);
            assert_close(&out, &expected, unit);
            let mut in_place = x.clone();
            on::rms_norm_in_place(unit, &mut in_place, &weight, 1e-5);
            assert_close(&in_place, &expected, unit);
            let expected: Vec<f32> =
                x.iter().zip(&weight).map(|(x, up)| x / (1.0 + (-x).exp()) * up).collect();
            on::silu_gate(unit, &x, &weight, &mut out);
            assert_close(&out, &expected, unit);
            let mut scores = x.clone();
            let sum = on::exp_sum_of_any(unit, &mut scores, 1.0);
            let expected: Vec<f32> = x.iter().map(|x| (x - 1.0).exp()).collect();
            assert_close(&scores, &expected, unit);
            assert_close(&[sum / n as f32], &[expected.iter().sum::<f32>() / n as f32], unit);
        }
    }

    #[test]
    fn tiles_match_on_all_units() {
        for unit in units() {
            for (heads, n, dim) in
                [(3, 7, 40), (1, 32, 64), (9, 17, 64), (6, 16, 80), (4, 1, 128), (2, 31, 16)]
            {
                let (q, k) = (numbers(heads * dim, 1), numbers(n * dim, 2));
                let mut expected = vec![7.0; heads * TILE];
                on::tile_scores_of_any(Unit::Plain, &q, &k, dim, 0.5, &mut expected);
                let mut scores = vec![7.0; heads * TILE];
                on::tile_scores_of_any(unit, &q, &k, dim, 0.5, &mut scores);
                assert_close(&scores, &expected, unit);
                let (v, factors) = (numbers(n * dim, 3), numbers(heads, 5));
                let mut sums = numbers(heads * dim, 4);
                on::tile_sum_of_any(Unit::Plain, &scores, &factors, &v, dim, &mut sums);
                let mut out = numbers(heads * dim, 4);
                on::tile_sum_of_any(unit, &scores, &factors, &v, dim, &mut out);
                assert_close(&out, &sums, unit);
                // These two functions have hand-written kernels, which are chosen by the unit of
                // this process.
                let (mut chosen, mut out) = (vec![7.0; heads * TILE], numbers(heads * dim, 4));
                tile_scores(&q, &k, dim, 0.5, &mut chosen);
                assert_close(&chosen, &expected, Unit::in_use());
                tile_sum(&scores, &factors, &v, dim, &mut out);
                assert_close(&out, &sums, Unit::in_use());
            }
        }
    }

    #[test]
    fn transposed_scores_match_the_plain_loops() {
        for (queries, dim) in [(1, 16), (2, 64), (3, 80), (4, 128), (7, 256), (13, 64), (5, 40)] {
            let (all, k) = (numbers(queries * dim, 1), numbers(dim * TILE, 2));
            let q: Vec<&[f32]> = all.chunks_exact(dim).collect();
            let mut expected = vec![7.0; queries * TILE];
            let unit = Unit::in_use();
            on::tile_scores_transposed_of_any(unit, &q, &k, 0.3, &mut expected);
            let mut scores = vec![7.0; queries * TILE];
            tile_scores_transposed(&q, &k, 0.3, &mut scores);
            assert_eq!(scores, expected, "{unit:?}: {queries} queries of {dim}");
            // The scores also equal those for keys that are not transposed. A pass with a few rows
            // uses such keys.
            let keys: Vec<f32> =
                (0..TILE).flat_map(|j| k.chunks_exact(TILE).map(move |k| k[j])).collect();
            tile_scores(&all, &keys, dim, 0.3, &mut expected);
            assert_eq!(scores, expected, "{unit:?}: {queries} queries of {dim}, not transposed");
        }
    }

    #[test]
    fn sums_of_values_match_the_plain_loops() {
        for (queries, dim, n) in
            [(1, 16, 32), (2, 64, 7), (3, 80, 32), (4, 112, 1), (7, 256, 31), (13, 64, 32)]
        {
            let (weights, v) = (numbers(queries * TILE, 1), numbers(n * dim, 2));
            let (factors, before) = (numbers(queries, 3), numbers(queries * dim, 4));
            let (mut expected, mut sums) = (before.clone(), before);
            let unit = Unit::in_use();
            on::tile_sum_of_any(unit, &weights, &factors, &v, dim, &mut expected);
            tile_sum(&weights, &factors, &v, dim, &mut sums);
            assert_eq!(sums, expected, "{unit:?}: {queries} queries of {dim}, {n} values");
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
