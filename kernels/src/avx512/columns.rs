//! Eight unpacked blocks of 32 columns in four vectors. A panel is filled from them.

use std::arch::x86_64::*;

use super::{order::Columns, panel::Row};

/// The column order: vector `v` holds columns 8v to 8v + 7 of each block.
pub(super) const COLUMNS: Columns = {
    let (mut columns, mut i) = ([0; 64], 0);
    while i < 64 {
        let (v, block, half) = (i / 16, i % 16 / 2, i % 2);
        columns[i] = 8 * block + 2 * v + half;
        i += 1;
    }
    columns
};

/// Eight unpacked blocks of 32 columns.
pub(crate) struct Eight {
    /// Unsigned codes, in the order of [`COLUMNS`].
    pub(crate) codes: [__m512i; 4],
    /// The scale of each block, stored twice.
    pub(crate) scales: __m512,
    /// The minimum of each block, stored twice.
    pub(crate) minimums: __m512,
}

impl Eight {
    /// Converts the blocks to a row of a [`panel`](super::panel).
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn row(self) -> Row {
        Row { codes: self.codes, scales: self.scales, minimums: _mm512_castps_si512(self.minimums) }
    }
}
