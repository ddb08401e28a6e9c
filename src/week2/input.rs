//! Day 5. Rows of activations as small integers.

<<<<<<< HEAD
use super::parallel::Team;

/// Activations of which a row is made: as many as weights in the longest blocks.
pub const GROUP: usize = 256;
/// The fewest activations that share a scale: as many as weights in the shortest blocks.
pub const BLOCK: usize = 32;
/// Sums are kept of so many: the finest division of weights (`Q6_K` has a scale for every 16).
pub const SUM: usize = 16;

/// [`GROUP`] activations as int8: each is its block's scale times its value. Where a row is no
/// multiple of [`GROUP`], its last group is filled up with zeros.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub struct Int8Group {
    /// In −127…127.
    pub values: [i8; GROUP],
    /// The sum of each [`SUM`] values: formats whose weights are stored with an offset or a minimum
    /// need it.
    pub sums: [i16; GROUP / SUM],
    /// What a value of 1 stands for, in each [`BLOCK`]. Where the whole group shares a scale, it
    /// stands here eight times.
    pub scales: [f32; GROUP / BLOCK],
}

impl Default for Int8Group {
    fn default() -> Self {
        Self { values: [0; GROUP], sums: [0; GROUP / SUM], scales: [0.0; GROUP / BLOCK] }
    }
}

/// The input of a layer's matrices: computed once, used by all of them.
#[derive(Debug, Default)]
pub struct Input {
    /// Number of rows.
    pub rows: usize,
    /// Values in a row.
    pub cols: usize,
    /// `[rows, cols]`
    pub values: Vec<f32>,
    /// `[rows, groups]`, the same for kernels that multiply integers; up to date after
    /// [`Input::quantize`].
    pub int8: Vec<Int8Group>,
    /// How many activations share a scale in `int8`: [`BLOCK`] or [`GROUP`]; 0 after
    /// [`Input::resize`], for what is written then is not in `int8` yet.
    pub width: usize,
}

impl Input {
    /// Makes room for `rows` of `cols` values, which are to be written and then prepared. Nothing
    /// is allocated if there was as much room before.
    pub fn resize(&mut self, rows: usize, cols: usize) {
        (self.rows, self.cols, self.width) = (rows, cols, 0);
        self.values.resize(rows * cols, 0.0);
    }

    /// Groups in a row.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.cols.div_ceil(GROUP)
    }

    /// `[cols]`, row `r`.
    #[must_use]
    pub fn row(&self, r: usize) -> &[f32] {
        &self.values[r * self.cols..][..self.cols]
    }

    /// `[groups]`, row `r` as integers.
    #[must_use]
    pub fn int8_row(&self, r: usize) -> &[Int8Group] {
        &self.int8[r * self.groups()..][..self.groups()]
    }

    /// Brings [`Input::int8`] up to date with [`Input::values`], with a scale for each `width` of
    /// them: [`BLOCK`] or [`GROUP`]. Weights whose blocks are longer cannot be multiplied with it;
    /// for those whose blocks are shorter it is coarser than it need be.
    pub fn quantize(&mut self, team: &Team, width: usize) {
        self.quantize_with(team, width, quantize_row);
    }

    /// The same with another [`quantize_row`].
    pub fn quantize_with(
        &mut self,
        team: &Team,
        width: usize,
        quantize_row: impl Fn(&[f32], usize, &mut [Int8Group]) + Sync,
    ) {
        let (cols, groups) = (self.cols, self.groups());
        self.width = width;
        self.int8.resize_with(self.rows * groups, Int8Group::default);
        team.parallel_rows(&mut self.int8, groups, 1, |r, row| {
            quantize_row(&self.values[r * cols..][..cols], width, row);
        });
    }
}
=======
pub use tiny_llm_kernels::input::{BLOCK, GROUP, Input, Int8Group, SUM};
>>>>>>> kernels

/// Quantizes one row: a scale for each `width` activations, [`BLOCK`] or [`GROUP`], is their
/// `absmax / 127`; each is divided by it and rounded to the nearest. Where all are zeros the scale
/// is 0. `x [cols]`, `groups [cols / 256, rounded up]`; what the last group has more than the row
/// is zeros, values and scales. A scale that is shared by a whole group is written to all of its
/// places. All of `groups` is written, whatever it held.
pub fn quantize_row(x: &[f32], width: usize, groups: &mut [Int8Group]) {
    todo!("week2-day5 task 2: quantize_row")
}
