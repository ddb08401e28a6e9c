//! Formats with blocks of 256 weights. Codes are multiplied by their scales before the matrix
//! product, so that fewer tiles of sums have to be stored.
//!
//! An integer weight is its code times the scale of its sub-block. In `Q2_K` and `Q3_K`, it fits in
//! one byte. In the other formats, it needs two: `code · scale = a · upper + lower`, where `a` is 8
//! or 256. So a block needs one or two products of 256 columns. Each of them stores one tile of
//! sums, or one for each part of the sum (see below). If the scales were applied later, the sums of
//! the sub-blocks would fill eight or sixteen tiles, each of which would be scaled separately. The
//! matrix unit would take a third longer, and the vector unit four times as long.
//!
//! The number of stored sums also depends on the order of additions, which must be the same as in
//! the kernels for a few rows. If a float can hold the sum of a block exactly, the whole sum is
//! stored. Otherwise, two or four parts of the sum are stored and rounded one by one.

use std::marker::PhantomData;

use super::{
    activations::Int8Tile,
    many::{Outputs, Plan, Soon},
    panel::Panel,
    sixteen::Sixteen,
    unit::{ROW, SIDE, Shapes, Sums, Unit},
};
use crate::{
    format::{Format, Zero},
    input::SUPER_BLOCK,
};

/// The way in which products of codes and scales are split into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// `Q2_K`: one byte, because the product is at most 3 · 15.
    Whole,
    /// `Q3_K`: one byte, negated. The largest product is 128, and an i8 can hold −128 but not 128.
    Minus,
    /// `Q4_K`, `Q5_K`: code times the lower three bits of the scale, and code times its upper three
    /// bits. Each is unsigned and at most 31 · 7.
    Eights,
    /// `Q6_K`: the lower byte of the product, unsigned, and the upper byte, signed.
    Bytes,
}

/// Formats with blocks of 256 weights.
pub(crate) trait Folded: Format {
    const FOLD: Fold;
    /// Number of sums that are stored for each block and rounded one by one.
    const PARTS: usize;
}

macro_rules! folded {
    ($($format:ident: $fold:ident, $parts:literal;)*) => {$(
        impl Folded for crate::format::$format {
            const FOLD: Fold = Fold::$fold;
            const PARTS: usize = $parts;
        }
    )*};
}

folded! {
    Q2_K: Whole, 1;
    Q3_K: Minus, 1;
    Q4_K: Eights, 1;
    Q5_K: Eights, 2;
    Q6_K: Bytes, 4;
}

/// Number of neighbouring columns that are stored together.
pub(crate) const PIECE: usize = 16;

/// The order in which the four quarters (64 columns each) of a super-block are multiplied, for
/// [`Fold::Eights`].
const QUARTERS: [usize; 4] = [0, 2, 1, 3];

/// Returns where a piece of 16 columns is stored: the quarter, which is a tile, and the piece's
/// index in the quarter. Quarters that are added to the same sum are neighbours.
pub(crate) const fn place(fold: Fold, piece: usize) -> (usize, usize) {
    match fold {
        // As in the kernels for a few rows, every fourth piece is added to the same sum.
        Fold::Bytes => (piece % 4, piece / 4),
        // The first and third 64 columns, then the second and fourth.
        Fold::Eights => (QUARTERS[piece / 4], piece % 4),
        Fold::Whole | Fold::Minus => (piece / 4, piece % 4),
    }
}

/// For each part of a block, the sums of the products' lower bytes and of their upper bytes.
type BlockSums = [[Sums; 2]; 4];

/// Activations in the layout that [`multiply`] expects: in the order of [`place`] for
/// [`Fold::Bytes`], and in their original order for other folds.
type Arranged = [[i8; ROW]; SUPER_BLOCK / 4];

/// The [`Plan`] (method of multiplying) for formats with blocks of 256 weights.
pub(super) struct SuperBlocks<F>(PhantomData<F>);

impl<F: Folded> Plan for SuperBlocks<F> {
    const SHAPES: Shapes = Shapes::of(ROW);
    type Space = ([BlockSums; 2], Arranged);
    const SPACE: Self::Space = ([[[Sums::ZEROS; 2]; 4]; 2], [[0; ROW]; SUPER_BLOCK / 4]);

    #[inline(always)]
    fn add<V: Sixteen, U: Unit>(
        unit: &mut U,
        panels: &[Panel; 2],
        x: &Int8Tile,
        _: usize,
        (sums, arranged): &mut Self::Space,
        out: &mut Outputs,
        soon: Option<Soon<'_>>,
    ) {
        let lines = if F::FOLD == Fold::Bytes {
            arrange(x, arranged);
            arranged
        } else {
            &x.values
        };
        multiply::<F, V, U>(unit, panels, lines, sums, soon);
        for h in 0..2 {
            scale::<F, V>(&sums[h], &panels[h], x, &mut out.0[h]);
        }
    }
}

/// Rearranges a tile's activations in the order of [`place`], for [`Fold::Bytes`].
#[inline(always)]
fn arrange(x: &Int8Tile, to: &mut Arranged) {
    for piece in 0..SUPER_BLOCK / PIECE {
        let (quarter, place) = place(Fold::Bytes, piece);
        to[16 * quarter + 4 * place..][..4].copy_from_slice(&x.values[4 * piece..][..4]);
    }
}

/// Multiplies a block of each row of two panels by 16 rows of activations, and stores the results
/// in `sums`.
#[inline(always)]
fn multiply<F: Folded, V: Sixteen, U: Unit>(
    unit: &mut U,
    panels: &[Panel; 2],
    x: &Arranged,
    sums: &mut [BlockSums; 2],
    soon: Option<Soon<'_>>,
) {
    let upper = matches!(F::FOLD, Fold::Eights | Fold::Bytes);
    let quarters = 4 / F::PARTS;
    for part in 0..F::PARTS {
        unit.zero::<0>();
        unit.zero::<1>();
        if upper {
            unit.zero::<2>();
            unit.zero::<3>();
        }
        for quarter in part * quarters..(part + 1) * quarters {
            fetch::<V>(soon, quarter);
            let tile = quarter * SIDE * ROW..(quarter + 1) * SIDE * ROW;
            let lies = if F::FOLD == Fold::Eights { QUARTERS[quarter] } else { quarter };
            unit.load::<6>(bytemuck::cast_slice(&x[SIDE * lies..][..SIDE]), ROW);
            unit.load::<4>(&panels[0].codes[tile.clone()], ROW);
            unit.load::<5>(&panels[1].codes[tile.clone()], ROW);
            if matches!(F::FOLD, Fold::Minus) {
                unit.dot::<0, 4, 6>();
                unit.dot::<1, 5, 6>();
            } else {
                unit.dot_unsigned::<0, 4, 6>();
                unit.dot_unsigned::<1, 5, 6>();
            }
            if upper {
                unit.load::<4>(&panels[0].upper[tile.clone()], ROW);
                unit.load::<5>(&panels[1].upper[tile], ROW);
                if matches!(F::FOLD, Fold::Bytes) {
                    unit.dot::<2, 4, 6>();
                    unit.dot::<3, 5, 6>();
                } else {
                    unit.dot_unsigned::<2, 4, 6>();
                    unit.dot_unsigned::<3, 5, 6>();
                }
            }
        }
        let [first, second] = sums;
        unit.store::<0>(&mut first[part][0]);
        unit.store::<1>(&mut second[part][0]);
        if upper {
            unit.store::<2>(&mut first[part][1]);
            unit.store::<3>(&mut second[part][1]);
        }
    }
}

/// Prefetches a quarter of the data in `soon`. `quarter` is its index.
#[inline(always)]
fn fetch<V: Sixteen>(soon: Option<Soon<'_>>, quarter: usize) {
    if let Some(Soon { x, outputs }) = soon {
        V::fetch::<[[i8; ROW]; SIDE]>(x.values[SIDE * quarter..].first_chunk().expect("lines"));
        V::fetch(&x.sums[quarter]);
        let rows = &outputs.0[quarter / 2][quarter % 2 * 8..];
        V::fetch::<[[f32; SIDE]; 8]>(rows.first_chunk().expect("eight rows"));
    }
}

/// Scales the sums of a block of each row of `panel`, and adds them to `out`. The order of
/// additions is the same as in the other AVX-512 kernels, for any number of rows.
#[inline(always)]
fn scale<F: Folded, V: Sixteen>(
    sums: &BlockSums,
    panel: &Panel,
    x: &Int8Tile,
    out: &mut [[f32; SIDE]; SIDE],
) {
    let x_scale = V::load(&x.scales[0]);
    for row in 0..SIDE {
        let part = |part: usize| {
            let [lower, upper] = &sums[part];
            match F::FOLD {
                Fold::Whole | Fold::Minus => V::of_integers(&lower.0[row]),
                Fold::Eights => V::of_two::<3>(&lower.0[row], &upper.0[row]),
                Fold::Bytes => V::of_two::<8>(&lower.0[row], &upper.0[row]),
            }
        };
        let total = match F::PARTS {
            1 => part(0),
            2 => part(0).plus(part(1)),
            _ => part(0).plus(part(1)).plus(part(2).plus(part(3))),
        };
        let [d, minus_dmin] = [panel.scales[row][0], panel.scales[row][1]];
        let mut scaled = V::all(d).times(total);
        if F::ZERO == Zero::Minimum {
            let minimums = &panel.whole_minimums[row];
            let below = match F::PER_SCALE {
                32 => V::of_products(&x.sums, minimums),
                _ => V::of_products(&x.finer_sums, minimums),
            };
            scaled = V::all(minus_dmin).times_plus(below, scaled);
        }
        scaled.times_plus(x_scale, V::load(&out[row])).store(&mut out[row]);
    }
}
