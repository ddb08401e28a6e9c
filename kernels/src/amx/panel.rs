//! 16 rows of weights in the layout of tiles, and the trait that unpacks them.

use super::unit::SIDE;
use crate::input::{BLOCK, SUM, SUPER_BLOCK};

/// 256 unpacked columns of 16 rows of weights.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Panel {
    /// For blocks of 32, signed codes: the first 32 columns of all rows, then the next 32, and so
    /// on. For blocks of 256, products of codes and scales, 64 columns at a time. See
    /// [`super_blocks`](super::super_blocks).
    pub(crate) codes: [u8; SIDE * SUPER_BLOCK],
    /// The upper parts of the products in `codes`, in formats where one byte is too small for a
    /// product.
    pub(crate) upper: [u8; SIDE * SUPER_BLOCK],
    /// Scales of each row, one for every 16 columns. For blocks of 256, only the first two are
    /// used: the factor of all products, and the negated factor of minimums.
    pub(crate) scales: [[f32; SUPER_BLOCK / SUM]; SIDE],
    /// Minimums of blocks of 32, one for every 16 columns. Unused in other formats.
    pub(crate) minimums: [[f32; SUPER_BLOCK / SUM]; SIDE],
    /// The integer minimums of blocks of 256. Each element holds two 16-bit minimums.
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

/// A way to unpack weights.
pub(crate) trait Source {
    /// Unpacks 16 rows of weights into `panel`. `rows` are the bytes of 256 columns of each row, or
    /// of all remaining columns. Also prefetches the bytes that are `ahead` bytes after `rows`.
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize);
}
