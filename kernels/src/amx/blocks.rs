//! Formats with blocks of 32 weights. Each sum of 32 products is stored from its tile, then scaled.
//!
//! Each block of weights and each block of activations has its own scale, so no two blocks can
//! share a sum. A tile multiplies 32 columns, half as many as it could, and its sums must be stored
//! for every block. The matrix unit takes as long to store a tile as to multiply it. Scaling takes
//! three vector operations per 16 sums. These operations take nearly as long as the matrix unit's
//! multiplications and stores.
//!
//! One would expect the two units to work in parallel. On the processor on which this was measured
//! (an Intel Xeon of 2023) they don't: products, stores of tiles and vector operations take as long
//! when interleaved as when done one after the other, or slightly longer. Only a store and the
//! products after it overlap a little. So the kernel first computes the sums of a whole
//! super-block, and then scales them. It stores the sums of each block after the products of the
//! next block.

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
    input::{BLOCK, SUPER_BLOCK},
};

/// Number of blocks in a super-block.
const BLOCKS: usize = SUPER_BLOCK / BLOCK;

/// The sums of a super-block's blocks, for two panels.
type BlockSums = [[Sums; 2]; BLOCKS];

/// The [`Plan`] (method of multiplying) for formats with blocks of 32 weights.
pub(super) struct Blocks<F>(PhantomData<F>);

impl<F: Format> Plan for Blocks<F> {
    const SHAPES: Shapes = Shapes::of(BLOCK);
    type Space = BlockSums;
    const SPACE: Self::Space = [[Sums::ZEROS; 2]; BLOCKS];

    #[inline(always)]
    fn add<V: Sixteen, U: Unit>(
        unit: &mut U,
        panels: &[Panel; 2],
        x: &Int8Tile,
        blocks: usize,
        sums: &mut Self::Space,
        out: &mut Outputs,
        soon: Option<Soon<'_>>,
    ) {
        // The most common numbers of blocks are constants, so that the compiler unrolls the loop.
        match blocks {
            8 => add::<F, V, U>(unit, panels, x, 8, sums, out, soon),
            6 => add::<F, V, U>(unit, panels, x, 6, sums, out, soon),
            4 => add::<F, V, U>(unit, panels, x, 4, sums, out, soon),
            2 => add::<F, V, U>(unit, panels, x, 2, sums, out, soon),
            _ => add::<F, V, U>(unit, panels, x, blocks, sums, out, soon),
        }
    }
}

/// Multiplies `blocks` blocks of both panels by `x`, then scales their sums and adds them to `out`.
#[inline(always)]
fn add<F: Format, V: Sixteen, U: Unit>(
    unit: &mut U,
    panels: &[Panel; 2],
    x: &Int8Tile,
    blocks: usize,
    sums: &mut BlockSums,
    out: &mut Outputs,
    soon: Option<Soon<'_>>,
) {
    // A block's sums are stored after the next block is multiplied, so that the store doesn't wait
    // for the products.
    for block in 0..blocks {
        fetch::<V>(soon, block);
        if block.is_multiple_of(2) {
            multiply::<0, 1, 6, U>(unit, panels, x, block);
            if block > 0 {
                store::<2, 3, U>(unit, &mut sums[block - 1]);
            }
        } else {
            multiply::<2, 3, 7, U>(unit, panels, x, block);
            store::<0, 1, U>(unit, &mut sums[block - 1]);
        }
    }
    if blocks.is_multiple_of(2) {
        store::<2, 3, U>(unit, &mut sums[blocks - 1]);
    } else {
        store::<0, 1, U>(unit, &mut sums[blocks - 1]);
    }
    let mut scales = [V::all(0.0); BLOCKS];
    for block in 0..blocks {
        scales[block] = V::load(&x.scales[block]);
    }
    for h in 0..2 {
        for row in 0..SIDE {
            let out = &mut out.0[h][row];
            scale::<F, V>(sums, &panels[h], (&scales, x), blocks, (h, row), out);
        }
    }
}

/// Prefetches an eighth of the data in `soon`. `block` is the index of the eighth.
#[inline(always)]
fn fetch<V: Sixteen>(soon: Option<Soon<'_>>, block: usize) {
    if let Some(Soon { x, outputs }) = soon {
        let lines = &x.values[BLOCK / 4 * block..];
        V::fetch::<[[i8; ROW]; BLOCK / 4]>(lines.first_chunk().expect("lines of a block"));
        V::fetch(&x.scales[block]);
        V::fetch(&x.totals[block]);
        let rows = &outputs.0[block / 4][block % 4 * 4..];
        V::fetch::<[[f32; SIDE]; 4]>(rows.first_chunk().expect("four rows"));
    }
}

/// Multiplies block `block` of two panels by 16 rows of activations. The sums are left in tiles `A`
/// and `B`, one for each panel. Tile `X` holds the activations. Neighbouring blocks use different
/// tiles, so that they don't wait for each other.
#[inline(always)]
fn multiply<const A: usize, const B: usize, const X: usize, U: Unit>(
    unit: &mut U,
    panels: &[Panel; 2],
    x: &Int8Tile,
    block: usize,
) {
    let weights = |h: usize| &panels[h].codes[SIDE * BLOCK * block..][..SIDE * BLOCK];
    let x = &x.values[BLOCK / 4 * block..][..BLOCK / 4];
    unit.load::<X>(bytemuck::cast_slice(x), ROW);
    unit.load::<4>(weights(0), BLOCK);
    unit.load::<5>(weights(1), BLOCK);
    unit.zero::<A>();
    unit.zero::<B>();
    unit.dot::<A, 4, X>();
    unit.dot::<B, 5, X>();
}

#[inline(always)]
fn store<const A: usize, const B: usize, U: Unit>(unit: &mut U, [first, second]: &mut [Sums; 2]) {
    unit.store::<A>(first);
    unit.store::<B>(second);
}

/// Scales the sums of all blocks of row `row` of panel `h`, and adds them to the row's outputs,
/// `out`. The order of additions is the same as in the other AVX-512 kernels, for any number of
/// rows: see `avx512/fours.rs`.
///
/// Processes one row at a time. A version with four rows at a time was slower.
#[inline(always)]
fn scale<F: Format, V: Sixteen>(
    sums: &BlockSums,
    panel: &Panel,
    (scales, x): (&[V; BLOCKS], &Int8Tile),
    blocks: usize,
    (h, row): (usize, usize),
    out: &mut [f32; SIDE],
) {
    let mut pairs = [V::all(0.0); BLOCKS / 2];
    for i in 0..BLOCKS / 2 {
        for block in [i, i + BLOCKS / 2] {
            if block >= blocks {
                break;
            }
            let scaled = V::of_integers(&sums[block][h].0[row]).times(scales[block]);
            pairs[i] = scaled.times_plus(V::all(panel.scales[row][2 * block]), pairs[i]);
            if F::ZERO == Zero::Minimum {
                let minimum = V::all(panel.minimums[row][2 * block]);
                pairs[i] = minimum.times_plus(V::load(&x.totals[block]), pairs[i]);
            }
        }
    }
    let eight = pairs[0].plus(pairs[2]).plus(pairs[1].plus(pairs[3]));
    V::load(out).plus(eight).store(out);
}
