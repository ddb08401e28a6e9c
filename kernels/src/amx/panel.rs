//! 16 rows of weights as tiles want them, and where they come from.

use super::unit::SIDE;
use crate::input::{GROUP, SUM};

/// 256 columns of 16 rows of weights out of their blocks.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Panel {
    /// Signed: the first 32 columns of each row, then the next.
    pub(crate) codes: [u8; SIDE * GROUP],
    /// Of each row, one for each 16 columns.
    pub(crate) scales: [[f32; GROUP / SUM]; SIDE],
    /// The same, not used in a format without.
    pub(crate) minimums: [[f32; GROUP / SUM]; SIDE],
}

impl Panel {
    pub(crate) const ZEROS: Self = Self {
        codes: [0; SIDE * GROUP],
        scales: [[0.0; GROUP / SUM]; SIDE],
        minimums: [[0.0; GROUP / SUM]; SIDE],
    };
}

/// What takes weights out of their blocks.
pub(crate) trait Source {
    /// `bytes`: those of 256 columns of row `i` of a panel, or of as many as are left. What lies
    /// `ahead` of them will be needed soon.
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], ahead: usize);
}
