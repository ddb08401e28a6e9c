//! Activations as tiles want them: 16 rows of them side by side.

use super::unit::{ROW, SIDE};
use crate::input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK};

/// 256 columns of 16 rows of activations. Where there are fewer rows, the others are zeros.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Int8Tile {
    /// In each line four columns of every row: 16 lines are a tile of 64 columns, eight one of 32.
    pub(crate) values: [[i8; ROW]; SUPER_BLOCK / 4],
    /// For each 32 columns what a value of 1 stands for.
    pub(crate) scales: [[f32; SIDE]; SUPER_BLOCK / BLOCK],
    /// The sum of what each 32 values stand for, which minimums are multiplied with.
    pub(crate) totals: [[f32; SIDE]; SUPER_BLOCK / BLOCK],
    /// The sums of each 32 values as they are, two of 16 bits in each number: what whole minimums
    /// are multiplied with.
    pub(crate) sums: [[i32; SIDE]; SUPER_BLOCK / BLOCK / 2],
    /// The same of each 16.
    pub(crate) finer_sums: [[i32; SIDE]; SUPER_BLOCK / SUM / 2],
}

impl Default for Int8Tile {
    fn default() -> Self {
        Self {
            values: [[0; ROW]; SUPER_BLOCK / 4],
            scales: [[0.0; SIDE]; SUPER_BLOCK / BLOCK],
            totals: [[0.0; SIDE]; SUPER_BLOCK / BLOCK],
            sums: [[0; SIDE]; SUPER_BLOCK / BLOCK / 2],
            finer_sums: [[0; SIDE]; SUPER_BLOCK / SUM / 2],
        }
    }
}

impl Int8Tile {
    /// Takes up to 16 rows.
    pub(crate) fn fill<'a>(&mut self, rows: impl Iterator<Item = &'a Int8SuperBlock>) {
        let mut count = 0;
        for (n, x) in rows.take(SIDE).enumerate() {
            for (line, four) in self.values.iter_mut().zip(x.values.as_chunks::<4>().0) {
                line.as_chunks_mut::<4>().0[n] = *four;
            }
            for block in 0..SUPER_BLOCK / BLOCK {
                let sum = x.sums[2 * block] + x.sums[2 * block + 1];
                self.scales[block][n] = x.scales[block];
                self.totals[block][n] = f32::from(sum) * x.scales[block];
                self.finer_sums[block][n] = two(x.sums[2 * block], x.sums[2 * block + 1]);
            }
            for (line, four) in self.sums.iter_mut().zip(x.sums.as_chunks::<4>().0) {
                line[n] = two(four[0] + four[1], four[2] + four[3]);
            }
            count = n + 1;
        }
        for n in count..SIDE {
            self.values.iter_mut().for_each(|line| line.as_chunks_mut::<4>().0[n] = [0; 4]);
            self.scales.iter_mut().for_each(|line| line[n] = 0.0);
            self.totals.iter_mut().for_each(|line| line[n] = 0.0);
            self.sums.iter_mut().for_each(|line| line[n] = 0);
            self.finer_sums.iter_mut().for_each(|line| line[n] = 0);
        }
    }
}

/// Two numbers of 16 bits, the first in the lower half.
fn two(a: i16, b: i16) -> i32 {
    i32::from(a) & 0xffff | i32::from(b) << 16
}

const _: () = assert!(BLOCK == 2 * SUM, "a block's sum of activations is that of two");
