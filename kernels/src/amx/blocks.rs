//! Formats whose blocks have 32 weights: a sum of 32 products leaves its tile before it is scaled.
//!
//! Scales are numbers of their own in each block of weights and in each block of activations, so no
//! two blocks have a sum in common: every one of them is a tile of 32 columns, half as deep as a
//! tile can be, and its sums are stored. That takes the unit as long again as the products, and
//! what follows, three operations for 16 sums, the vector unit nearly as long as both together.
//!
//! One would expect the two units to work side by side. On the processor that this was written on
//! (an Intel Xeon of 2023's generation) they don't: products, stores of tiles and vector
//! operations, taken turn about, need as long as one after the other, and somewhat longer. So the
//! kernel does the sums of a whole super-block, then scales them.

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

/// Blocks in a super-block.
const BLOCKS: usize = SUPER_BLOCK / BLOCK;
/// Rows of weights that are scaled at once.
const ROWS: usize = 4;

/// The sums of all blocks of a super-block, of two panels.
type BlockSums = [[Sums; 2]; BLOCKS];

/// Blocks of 32 weights of this format.
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
        if blocks == BLOCKS {
            // So many as the compiler knows.
            for block in 0..BLOCKS {
                fetch::<V>(soon, block);
                multiply(unit, panels, x, block, sums);
            }
            scale::<F, V>(sums, panels, x, BLOCKS, out);
        } else {
            for block in 0..blocks {
                fetch::<V>(soon, block);
                multiply(unit, panels, x, block, sums);
            }
            scale::<F, V>(sums, panels, x, blocks, out);
        }
    }
}

/// Asks for an eighth of what comes next.
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

/// The sums of a block: two panels times 16 rows of activations.
#[inline(always)]
fn multiply<U: Unit>(
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
    if block.is_multiple_of(2) {
        multiply!(0, 1, 6);
    } else {
        multiply!(2, 3, 7);
    }
}

/// Scales the sums of `blocks` blocks and adds them to the outputs, one block after the other: the
/// order of all kernels for few and for many rows.
#[inline(always)]
fn scale<F: Format, V: Sixteen>(
    sums: &BlockSums,
    panels: &[Panel; 2],
    x: &Int8Tile,
    blocks: usize,
    out: &mut Outputs,
) {
    for (h, rows) in (0..2).flat_map(|h| (0..SIDE).step_by(ROWS).map(move |rows| (h, rows))) {
        scale_rows::<F, V>(sums, panels, x, blocks, (h, rows), out);
    }
}

/// The same for some rows of a panel.
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
