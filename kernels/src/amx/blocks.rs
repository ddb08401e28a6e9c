//! Formats whose blocks have 32 weights: a sum of 32 products leaves its tile before it is scaled.
//!
//! Scales are numbers of their own in each block of weights and in each block of activations, so no
//! two blocks have a sum in common: every one of them is a tile of 32 columns, half as deep as a
//! tile can be, and its sums are stored. That takes the unit as long again as the products. What
//! follows, three operations for 16 sums, takes the vector unit as long as both, and is done
//! meanwhile: while the sums of some blocks are made, those of the blocks before are scaled.

use super::{
    activations::Int8Tile,
    many::Outputs,
    panel::Panel,
    sixteen::Sixteen,
    unit::{ROW, SIDE, Shapes, Sums, Unit},
};
use crate::{
    format::{Format, Zero},
    input::{BLOCK, GROUP},
};

pub(super) const SHAPES: Shapes = Shapes::of(BLOCK);

/// Blocks in a group.
pub(super) const BLOCKS: usize = GROUP / BLOCK;
/// Rows of weights that are scaled at once.
const ROWS: usize = 4;

/// The sums of all blocks of a group, of two panels.
pub(super) type BlockSums = [[Sums; 2]; BLOCKS];

/// The sums of a block: two panels times 16 rows of activations.
#[inline(always)]
pub(super) fn multiply<U: Unit>(
    unit: &mut U,
    panels: &[Panel; 2],
    x: &Int8Tile,
    block: usize,
    sums: &mut BlockSums,
) {
    let weights = |h: usize| &panels[h].codes[SIDE * BLOCK * block..][..SIDE * BLOCK];
    let x = &x.values[BLOCK / 4 * block..][..BLOCK / 4];
    let [first, second] = &mut sums[block];
    // Neighbours have tiles of their own, so that neither waits for the other.
    macro_rules! multiply {
        ($a:literal, $b:literal, $x:literal) => {
            unit.load::<$x>(bytemuck::cast_slice(x), ROW);
            unit.load::<4>(weights(0), BLOCK);
            unit.load::<5>(weights(1), BLOCK);
            unit.zero::<$a>();
            unit.zero::<$b>();
            unit.dot::<$a, 4, $x>();
            unit.dot::<$b, 5, $x>();
            unit.store::<$a>(first);
            unit.store::<$b>(second);
        };
    }
    if block % 2 == 0 {
        multiply!(0, 1, 6);
    } else {
        multiply!(2, 3, 7);
    }
}

/// Scales the sums of `blocks` blocks and adds them to the outputs, in the order of all kernels for
/// few and for many rows: blocks go in pairs.
#[inline(always)]
pub(super) fn scale<F: Format, V: Sixteen>(
    sums: &BlockSums,
    panels: &[Panel; 2],
    x: &Int8Tile,
    blocks: usize,
    out: &mut Outputs,
) {
    for h in 0..2 {
        for rows in (0..SIDE).step_by(ROWS) {
            if blocks == BLOCKS {
                // So many as the compiler knows.
                scale_rows::<F, V>(sums, panels, x, BLOCKS, (h, rows), out);
            } else {
                scale_rows::<F, V>(sums, panels, x, blocks, (h, rows), out);
            }
        }
    }
}

#[inline(always)]
fn scale_rows<F: Format, V: Sixteen>(
    sums: &BlockSums,
    panels: &[Panel; 2],
    x: &Int8Tile,
    blocks: usize,
    (h, rows): (usize, usize),
    out: &mut Outputs,
) {
    let (panel, out) = (&panels[h], &mut out.0[h]);
    let mut totals = [V::all(0.0); ROWS];
    for r in 0..ROWS {
        totals[r] = V::load(&out[rows + r]);
    }
    for block in 0..blocks {
        let (scale, total) = (V::load(&x.scales[block]), V::load(&x.totals[block]));
        for r in 0..ROWS {
            let row = rows + r;
            let sums = V::of_integers(&sums[block][h].0[row]).times(scale);
            totals[r] = sums.times_plus(V::all(panel.scales[row][2 * block]), totals[r]);
            if F::ZERO == Zero::Minimum {
                let minimum = V::all(panel.minimums[row][2 * block]);
                totals[r] = minimum.times_plus(total, totals[r]);
            }
        }
    }
    for r in 0..ROWS {
        totals[r].store(&mut out[rows + r]);
    }
}
