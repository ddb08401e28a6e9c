//! Unpacks rows of weights with 512-bit instructions, like the kernels for a few rows of
//! activations, then stores them in the layout of tiles.

use std::arch::x86_64::*;

use super::{
    panel::Panel,
    super_blocks::{Fold, Folded, PIECE, place},
    unit::{ROW, SIDE},
};
use crate::{
    avx512::{
        columns::Eight,
        lanes::{load32, part, sixteen_bits, twice},
        order::Order,
        q8_0,
        super_blocks::SuperBlock,
    },
    format::{Format, Zero},
    input::{BLOCK, SUPER_BLOCK},
};

/// Stores eight unpacked blocks as row `i` of `panel`, after subtracting the format's offset.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn eight<F: Format>(panel: &mut Panel, i: usize, eight: Eight) {
    let offset = if let Zero::Offset(offset) = F::ZERO { offset } else { 0 };
    let offset = _mm512_set1_epi8(offset as i8);
    let mut codes = eight.codes;
    for v in 0..4 {
        codes[v] = _mm512_sub_epi8(codes[v], offset);
    }
    let [a, b, c, d] = codes;
    // Each input vector has eight columns of each block, block after block. Each lane of the new
    // vectors has 16 columns of one block: `a` and `b` have columns 0 to 15, and `c` and `d`
    // columns 16 to 31. `a` and `c` have the even blocks, `b` and `d` the odd ones.
    let (a, b, c, d) = (
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpackhi_epi64(c, d),
    );
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let even = [_mm512_permutex2var_epi64(a, first, c), _mm512_permutex2var_epi64(a, second, c)];
    let odd = [_mm512_permutex2var_epi64(b, first, d), _mm512_permutex2var_epi64(b, second, d)];
    for j in 0..2 {
        store_block(panel, i, 4 * j, _mm512_castsi512_si256(even[j]));
        store_block(panel, i, 4 * j + 1, _mm512_castsi512_si256(odd[j]));
        store_block(panel, i, 4 * j + 2, _mm512_extracti64x4_epi64::<1>(even[j]));
        store_block(panel, i, 4 * j + 3, _mm512_extracti64x4_epi64::<1>(odd[j]));
    }
    store_scales(panel, i, eight.scales);
    if F::ZERO == Zero::Minimum {
        // SAFETY: the store writes 64 bytes, which is 16 numbers of 32 bits.
        unsafe { _mm512_storeu_ps(panel.minimums[i].as_mut_ptr(), eight.minimums) };
    }
}

/// Stores up to eight blocks, whose codes are already bytes, as row `i` of `panel`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(super) fn bytes<const BYTES: usize>(panel: &mut Panel, i: usize, bytes: &[u8]) {
    let head = BYTES - BLOCK;
    if bytes.len() >= 8 * BYTES {
        // This length is known at compile time, so no bounds are checked.
        let bytes = &bytes[..8 * BYTES];
        for b in 0..8 {
            store_block(panel, i, b, load32(part(bytes, b * BYTES + head)));
        }
        store_scales(panel, i, twice(q8_0::scales(bytes)));
    } else {
        for (b, block) in bytes.chunks_exact(BYTES).enumerate() {
            store_block(panel, i, b, load32(part(block, head)));
        }
        store_scales(panel, i, twice(q8_0::scales(bytes)));
    }
}

/// Stores the scales of row `i`. `scales` contains each scale twice.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_scales(panel: &mut Panel, i: usize, scales: __m512) {
    // SAFETY: the store writes 64 bytes, which is 16 numbers of 32 bits.
    unsafe { _mm512_storeu_ps(panel.scales[i].as_mut_ptr(), scales) };
}

/// Stores `codes`, the 32 columns of block `block`, in row `i` of `panel`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn store_block(panel: &mut Panel, i: usize, block: usize, codes: __m256i) {
    let to = &mut panel.codes[(16 * block + i) * BLOCK..][..BLOCK];
    // SAFETY: `to` is 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) };
}

/// Multiplies the codes of a block of 256 weights by their scales, and stores the products as row
/// `i` of `panel`. The codes are in the format's order.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn super_block<F: Ordered>(panel: &mut Panel, i: usize, block: SuperBlock) {
    let all = _mm512_castsi256_si512(block.scales);
    let (even, odd) = (_mm512_set1_epi16(0x00ff), _mm512_set1_epi16(0xff00_u16 as i16));
    for v in 0..4 {
        let codes = block.codes[v];
        let index = sixteen_bits(&F::ORDER.words[v]);
        let scales = _mm512_permutexvar_epi16(index, all);
        match F::FOLD {
            Fold::Whole => store::<F>(&mut panel.codes, i, v, _mm512_mullo_epi16(codes, scales)),
            Fold::Minus => {
                // The lower byte of a product depends only on the lower bytes of its factors.
                let codes = _mm512_sub_epi8(_mm512_set1_epi8(4), codes);
                let a = _mm512_and_si512(_mm512_mullo_epi16(codes, scales), even);
                let b = _mm512_mullo_epi16(_mm512_and_si512(codes, odd), scales);
                store::<F>(&mut panel.codes, i, v, _mm512_or_si512(a, b));
            }
            Fold::Eights => {
                // One 16-bit multiplication multiplies two neighbouring bytes: neither product
                // overflows into the other.
                let lower = _mm512_and_si512(scales, _mm512_set1_epi16(7));
                let upper = _mm512_srli_epi16::<3>(scales);
                store::<F>(&mut panel.codes, i, v, _mm512_mullo_epi16(codes, lower));
                store::<F>(&mut panel.upper, i, v, _mm512_mullo_epi16(codes, upper));
            }
            Fold::Bytes => {
                let codes = _mm512_sub_epi8(codes, _mm512_set1_epi8(32));
                let a = _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(codes));
                let a = _mm512_mullo_epi16(a, scales);
                let b = _mm512_mullo_epi16(_mm512_srai_epi16::<8>(codes), scales);
                let lower = _mm512_or_si512(_mm512_and_si512(a, even), _mm512_slli_epi16::<8>(b));
                let upper = _mm512_or_si512(_mm512_srli_epi16::<8>(a), _mm512_and_si512(b, odd));
                store::<F>(&mut panel.codes, i, v, lower);
                store::<F>(&mut panel.upper, i, v, upper);
            }
        }
    }
    let mut d = [0.0; 4];
    // SAFETY: the store writes 16 bytes, which is four numbers of 32 bits.
    unsafe { _mm_storeu_ps(d.as_mut_ptr(), block.d) };
    let sign = if F::FOLD == Fold::Minus { -1.0 } else { 1.0 };
    (panel.scales[i][0], panel.scales[i][1]) = (sign * d[0], -d[1]);
    if F::ZERO == Zero::Minimum {
        let mut minimums = block.minimums;
        if F::PER_SCALE == 32 {
            // Each minimum is stored twice, in two 16-bit elements. Keep the first.
            minimums = _mm256_zextsi128_si256(_mm256_cvtepi32_epi16(minimums));
        }
        // SAFETY: the store writes 32 bytes: 16 numbers of 16 bits, to 8 elements of 32 bits.
        unsafe {
            _mm256_storeu_si256(panel.whole_minimums[i].as_mut_ptr().cast(), minimums);
        }
    }
}

/// A format with its own order of columns in an unpacked block.
pub(super) trait Ordered: Folded {
    const ORDER: &'static Order;
    /// For each vector and each of its lanes, the offset in the panel at which row 0 is stored.
    const PLACES: [[usize; 4]; 4] = {
        let (mut places, mut lane) = ([[0; 4]; 4], 0);
        while lane < 16 {
            let (quarter, place) = place(Self::FOLD, Self::ORDER.piece(lane));
            places[lane / 4][lane % 4] = SIDE * ROW * quarter + PIECE * place;
            lane += 1;
        }
        places
    };
}

/// Stores `bytes`, which is vector `v` of row `i`, in `codes`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn store<F: Ordered>(codes: &mut [u8; SIDE * SUPER_BLOCK], i: usize, v: usize, bytes: __m512i) {
    let pieces = [
        _mm512_castsi512_si128(bytes),
        _mm512_extracti32x4_epi32::<1>(bytes),
        _mm512_extracti32x4_epi32::<2>(bytes),
        _mm512_extracti32x4_epi32::<3>(bytes),
    ];
    let places = const { &F::PLACES };
    for lane in 0..4 {
        let to = &mut codes[places[v][lane] + ROW * i..][..PIECE];
        // SAFETY: `to` is 16 bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), pieces[lane]) };
    }
}
