//! 16 rows of weights as tiles want them, and where they come from.

use super::unit::SIDE;
use crate::input::{BLOCK, GROUP, SUM};

/// 256 columns of 16 rows of weights out of their blocks.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Panel {
    /// Of blocks of 32: signed, the first 32 columns of each row, then the next. Of blocks of 256:
    /// products of codes and scales, 64 columns at a time, see [`superblocks`](super::superblocks).
    pub(crate) codes: [u8; SIDE * GROUP],
    /// The upper part of these products, in formats where one byte does not hold them.
    pub(crate) upper: [u8; SIDE * GROUP],
    /// Of each row, one for each 16 columns; of blocks of 256 what all products are multiplied
    /// with, and minus what minimums are.
    pub(crate) scales: [[f32; GROUP / SUM]; SIDE],
    /// One for each 16 columns, not used in a format without.
    pub(crate) minimums: [[f32; GROUP / SUM]; SIDE],
    /// The whole minimums of blocks of 256, two of 16 bits in each number.
    pub(crate) whole_minimums: [[i32; GROUP / BLOCK]; SIDE],
}

impl Panel {
    pub(crate) const ZEROS: Self = Self {
        codes: [0; SIDE * GROUP],
        upper: [0; SIDE * GROUP],
        scales: [[0.0; GROUP / SUM]; SIDE],
        minimums: [[0.0; GROUP / SUM]; SIDE],
        whole_minimums: [[0; GROUP / BLOCK]; SIDE],
    };
}

/// What takes weights out of their blocks.
pub(crate) trait Source {
    /// `rows`: the bytes of 256 columns of each row of a panel, or of as many as are left. What
    /// lies `ahead` of them will be needed soon.
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize);
}
