//! Rows of a KV cache of type q8_0: blocks of up to 32 numbers, each an i8 code times the block's
//! f16 scale.
//!
//! A row is a head's key or value at one position: first the scales, then the codes, each padded to
//! whole words of four bytes. A head of 64 numbers takes 68 bytes, compared with 128 in f16. The
//! last block of a row may be shorter than 32, so heads may have any size. Each row is quantized
//! separately: its bytes do not depend on other positions or heads.

use half::f16;

use crate::loops::{MultiplyAdd, TILE, halves};

/// Number of elements that share a scale.
pub const BLOCK: usize = 32;

/// The largest code. −128 is not used, so the codes are symmetric.
const LARGEST: f32 = 127.0;
/// The bits of a block's f16 scale if one of its numbers is NaN, infinite or too large.
const NAN: u16 = 0x7e00;
/// The smallest bits of an f16 that is infinite or NaN.
const INFINITE: u16 = 0x7c00;
/// 2^112: compensates for the different exponent biases of f16 and f32.
const REBASE: f32 = f32::from_bits((112 + 127) << 23);
/// Adding this to a number below 2²² leaves the nearest integer in the lowest bits.
const ROUND: f32 = 12_582_912.0;

/// Rows of `dim` elements each, stored one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Q8Rows<'a> {
    /// The scales and codes of all rows, `[n, row_words(dim)]`.
    pub words: &'a [u32],
    /// The number of elements in a row, `D`.
    pub dim: usize,
}

impl Q8Rows<'_> {
    /// Returns rows `from..from + n`.
    ///
    /// # Panics
    /// If there are fewer rows.
    #[must_use]
    #[track_caller]
    pub fn part(self, from: usize, n: usize) -> Self {
        let words = row_words(self.dim);
        Self { words: &self.words[from * words..(from + n) * words], ..self }
    }

    /// Returns `n` rows, starting at row `from`, or all remaining rows if there are fewer.
    #[must_use]
    pub fn behind(self, from: usize, n: usize) -> Self {
        let (words, end) = (row_words(self.dim), self.words.len());
        let first = end.min(from * words);
        Self {
            words: &self.words[first..end.min(first.saturating_add(n.saturating_mul(words)))],
            ..self
        }
    }
}

/// Returns the number of 4-byte words for the scales of a row of `dim` numbers.
const fn scale_words(dim: usize) -> usize {
    dim.div_ceil(BLOCK).div_ceil(2)
}

/// Returns the number of 4-byte words in a row of `dim` numbers.
pub const fn row_words(dim: usize) -> usize {
    scale_words(dim) + dim.div_ceil(4)
}

/// Converts the bits of an f16 scale to f32. Scales are never negative.
#[inline(always)]
pub(crate) fn scale(bits: u16) -> f32 {
    let scale = f32::from_bits(u32::from(bits) << 13) * REBASE;
    if bits >= INFINITE { f32::NAN } else { scale }
}

/// Returns the scales and the codes of each row.
#[inline(always)]
pub(crate) fn rows(rows: Q8Rows<'_>) -> impl Iterator<Item = (&[[u8; 2]], &[u8])> + Clone {
    let (words, at) = (row_words(rows.dim), 4 * scale_words(rows.dim));
    rows.words.chunks_exact(words).map(move |row| {
        let (scales, codes) = bytemuck::cast_slice::<u32, u8>(row).split_at(at);
        (scales.as_chunks().0, &codes[..rows.dim])
    })
}

/// Converts `N` codes of a block to f32: `scale · code`.
#[inline(always)]
fn widen<const N: usize>(scale: f32, codes: &[u8; N]) -> [f32; N] {
    let mut out = [0f32; N];
    for i in 0..N {
        out[i] = scale * f32::from(codes[i] as i8);
    }
    out
}

#[inline(always)]
pub(crate) fn widen_q8<M: MultiplyAdd>(x: Q8Rows<'_>, out: &mut [f32]) {
    for ((scales, codes), out) in rows(x).zip(out.chunks_exact_mut(x.dim)) {
        let blocks = codes.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).zip(scales);
        for ((codes, out), bits) in blocks {
            let scale = scale(u16::from_ne_bytes(*bits));
            if let Ok(codes) = codes.try_into() {
                out.copy_from_slice(&widen::<BLOCK>(scale, codes));
            } else {
                for (out, code) in out.iter_mut().zip(codes) {
                    *out = scale * f32::from(*code as i8);
                }
            }
        }
    }
}

#[inline(always)]
pub(crate) fn tile_scores_q8_of_any<M: MultiplyAdd>(
    q: &[&[f32]],
    keys: Q8Rows<'_>,
    scale: f32,
    scores: &mut [f32],
) {
    let (mut q, mut scores) = (q, scores);
    while let Some(first) = q.first_chunk::<3>() {
        scores_of::<M, 3>(first, keys, scale, scores);
        q = &q[3..];
        if q.is_empty() {
            return;
        }
        scores = &mut scores[3 * TILE..];
    }
    match q {
        [a, b] => scores_of::<M, 2>(&[a, b], keys, scale, scores),
        [a] => scores_of::<M, 1>(&[a], keys, scale, scores),
        _ => {}
    }
}

/// Computes the scores of `N` queries, and reads each block of a key once for all of them. Sums are
/// added in the order of [`loops::dot`](crate::loops).
#[inline(always)]
fn scores_of<M: MultiplyAdd, const N: usize>(
    q: &[&[f32]; N],
    keys: Q8Rows<'_>,
    factor: f32,
    scores: &mut [f32],
) {
    const HALF: usize = BLOCK / 2;
    for (j, (scales, codes)) in rows(keys).enumerate() {
        let (halves_of, rest) = codes.as_chunks::<HALF>();
        let mut sums = [[0f32; HALF]; N];
        for (i, codes) in halves_of.iter().enumerate() {
            let k = widen(scale(u16::from_ne_bytes(scales[i / 2])), codes);
            for n in 0..N {
                let q: &[f32; HALF] = q[n][i * HALF..][..HALF].try_into().expect("16 numbers");
                for d in 0..HALF {
                    sums[n][d] = M::multiply_add(q[d], k[d], sums[n][d]);
                }
            }
        }
        for n in 0..N {
            let mut last = 0.0;
            for (d, code) in (halves_of.len() * HALF..).zip(rest) {
                let scale = scale(u16::from_ne_bytes(scales[d / BLOCK]));
                last += q[n][d] * (scale * f32::from(*code as i8));
            }
            scores[n * TILE + j] = factor * (halves(sums[n]) + last);
        }
    }
}

#[inline(always)]
pub(crate) fn tile_sum_q8<M: MultiplyAdd>(
    weights: &[f32],
    factors: &[f32],
    values: Q8Rows<'_>,
    out: &mut [f32],
) {
    let mut first = 0;
    while first < factors.len() {
        let (weights, factors) = (&weights[first * TILE..], &factors[first..]);
        let out = &mut out[first * values.dim..];
        first += match factors.len() {
            3.. => sums_of::<M, 3>(weights, factors, values, out),
            2 => sums_of::<M, 2>(weights, factors, values, out),
            _ => sums_of::<M, 1>(weights, factors, values, out),
        };
    }
}

/// Computes the weighted sums of the values for the first `N` queries. The sums stay in registers
/// while the values are read. Returns `N`.
#[inline(always)]
fn sums_of<M: MultiplyAdd, const N: usize>(
    weights: &[f32],
    factors: &[f32],
    values: Q8Rows<'_>,
    out: &mut [f32],
) -> usize {
    let dim = values.dim;
    for b in 0..dim / BLOCK {
        let mut sums = [[0f32; BLOCK]; N];
        for n in 0..N {
            for i in 0..BLOCK {
                sums[n][i] = factors[n] * out[n * dim + b * BLOCK + i];
            }
        }
        for (j, (scales, codes)) in rows(values).take(TILE).enumerate() {
            let codes = codes.as_chunks::<BLOCK>().0;
            let v = widen(scale(u16::from_ne_bytes(scales[b])), &codes[b]);
            for n in 0..N {
                let weight = weights[n * TILE + j];
                for i in 0..BLOCK {
                    sums[n][i] = M::multiply_add(weight, v[i], sums[n][i]);
                }
            }
        }
        for n in 0..N {
            out[n * dim + b * BLOCK..][..BLOCK].copy_from_slice(&sums[n]);
        }
    }
    let whole = dim / BLOCK * BLOCK;
    for n in 0..N {
        for d in whole..dim {
            let mut sum = factors[n] * out[n * dim + d];
            for (j, (scales, codes)) in rows(values).take(TILE).enumerate() {
                let v = scale(u16::from_ne_bytes(scales[d / BLOCK])) * f32::from(codes[d] as i8);
                sum = M::multiply_add(weights[n * TILE + j], v, sum);
            }
            out[n * dim + d] = sum;
        }
    }
    N
}

#[inline(always)]
pub(crate) fn narrow_q8<M: MultiplyAdd>(values: &[f32], row: &mut [u32]) {
    let at = 4 * scale_words(values.len());
    let (scales, codes) = bytemuck::cast_slice_mut::<u32, u8>(row).split_at_mut(at);
    let blocks = values.chunks(BLOCK).zip(codes.chunks_mut(BLOCK));
    for ((values, codes), bits) in blocks.zip(scales.as_chunks_mut::<2>().0) {
        // The magnitudes are compared as integers, so that a NaN counts as the largest.
        let largest = values.iter().fold(0, |max: u32, x| max.max(x.to_bits() & i32::MAX as u32));
        let narrowed = f16::from_f32_const(f32::from_bits(largest) / LARGEST).to_bits();
        if narrowed >= INFINITE {
            *bits = NAN.to_ne_bytes();
            codes.fill(0);
            continue;
        }
        // The scale is rounded down, so that the largest code is always 127. So widening a row and
        // quantizing it again gives the same bytes.
        let exact = f32::from_bits(largest) / LARGEST;
        let narrowed = narrowed - u16::from(scale(narrowed) > exact);
        *bits = narrowed.to_ne_bytes();
        let inverse = if narrowed == 0 { 0.0 } else { 1.0 / scale(narrowed) };
        for (code, x) in codes.iter_mut().zip(values) {
            let code_of = (x * inverse).clamp(-LARGEST, LARGEST);
            *code = (code_of + ROUND).to_bits() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_widened_exactly() {
        for bits in 0..INFINITE {
            assert_eq!(scale(bits), f16::from_bits(bits).to_f32());
        }
        assert!(scale(NAN).is_nan() && scale(INFINITE).is_nan());
    }
}
