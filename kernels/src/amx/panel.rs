//! 16 rows of weights as tiles want them, and where they come from.

use super::unit::SIDE;
use crate::input::{BLOCK, SUM, SUPER_BLOCK};

/// 256 columns of 16 rows of weights out of their blocks.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Panel {
    /// Of blocks of 32: signed, the first 32 columns of each row, then the next. Of blocks of 256:
    /// products of codes and scales, 64 columns at a time, see
    /// [`super_blocks`](super::super_blocks).
    pub(crate) codes: [u8; SIDE * SUPER_BLOCK],
    /// The upper part of these products, in formats where one byte does not hold them.
    pub(crate) upper: [u8; SIDE * SUPER_BLOCK],
    /// Of each row, one for each 16 columns; of blocks of 256 what all products are multiplied
    /// with, and minus what minimums are.
    pub(crate) scales: [[f32; SUPER_BLOCK / SUM]; SIDE],
    /// One for each 16 columns, not used in a format without.
    pub(crate) minimums: [[f32; SUPER_BLOCK / SUM]; SIDE],
    /// The whole minimums of blocks of 256, two of 16 bits in each number.
    pub(crate) whole_minimums: [[i32; SUPER_BLOCK / BLOCK]; SIDE],
}

impl Panel {
    pub(crate) const ZEROS: Self = Self {
        codes: [0; SIDE * SUPER_BLOCK],
        upper: [0; SIDE * SUPER_BLOCK],
        scales: [[0.0; SUPER_BLOCK / SUM]; SIDE],
        minimums: [[0.0; SUPER_BLOCK / SUM]; SIDE],
        whole_minimums: [[0; SUPER_BLOCK / BLOCK]; SIDE],
    };
}

/// What takes weights out of their blocks.
pub(crate) trait Source {
    /// `rows`: the bytes of 256 columns of each row of a panel, or of as many as are left. What
    /// lies `ahead` of them will be needed soon.
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize);
}
