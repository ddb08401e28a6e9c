//! Day 6. Groups tokens by expert, so that an expert's weights are read once for all its tokens.
//!
//! A pass of `T` tokens with `k` experts each has `T · k` *assignments*. They are numbered token by
//! token: assignment `a` is choice `a % k` of token `a / k`.
//!
//! Tasks here: week4-day6 task 2 (`group`, `indexed_matmul`, `combine`). Everything else is
//! provided.

use crate::week2::{
    input::Input,
    matrix::Matrix,
    plan::{Plan, ROWS},
};

/// A pass's assignments, grouped by expert. Each of a token's `k` experts is one assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// `[experts + 1]`. The assignments of expert `e` are `members[starts[e]..starts[e + 1]]`.
    pub starts: Vec<usize>,
    /// `[T · k]`, the numbers of the assignments, sorted by expert. Each expert's assignments are
    /// in ascending order.
    pub members: Vec<usize>,
}

impl Groups {
    /// Returns the numbers of the assignments to `expert`, in ascending order.
    #[must_use]
    pub fn of(&self, expert: usize) -> &[usize] {
        &self.members[self.starts[expert]..self.starts[expert + 1]]
    }
}

/// Groups assignments by expert. `chosen [T · k]` holds the expert of each assignment, a number
/// below `experts`.
///
/// # Panics
/// If an expert is out of range.
#[must_use]
pub fn group(chosen: &[usize], experts: usize) -> Groups {
    todo!("week4-day6 task 2: group")
}

/// Buffers for gathered rows and for products. Every call of [`indexed_matmul`] reuses them.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The rows of all tokens, prepared once for all experts that read them. (Preparing them only
    /// once is an optional optimisation.)
    pub rows: Input,
    /// The rows that the current expert reads.
    pub input: Input,
    /// The products, before they are copied to `out`. This buffer may hold the products of one
    /// expert at a time, or of all experts in order.
    pub output: Vec<f32>,
}

/// Multiplies each assignment's row of `x` by the matrix of the assignment's expert. Writes the
/// products to `out [T · k, M]`. `experts` has one matrix `[M, K]` for each expert.
///
/// A row of `x` has `K` elements. If `x` has `T` rows, all experts of a token read the token's row.
/// If `x` has `T · k` rows, each assignment has its own row. `work` may still hold rows of an
/// earlier call with fewer or more assignments. Returns how many bytes of weights were read: an
/// expert's matrix counts once if any token uses it, and not at all otherwise.
///
/// # Panics
/// If `out` does not have a row for each assignment, or if the number of assignments is not a
/// multiple of the number of rows of `x`.
pub fn indexed_matmul(
    experts: &[Matrix],
    groups: &Groups,
    x: &[f32],
    plan: &Plan,
    work: &mut Gathered,
    out: &mut [f32],
) -> usize {
    todo!("week4-day6 task 2: indexed_matmul")
}

/// Overwrites `out [T, E]` with the weighted sum of each token's expert outputs.
/// `outputs [T · k, E]` and `weights [T · k]` have an entry for each assignment.
pub fn combine(outputs: &[f32], weights: &[f32], out: &mut [f32]) {
    todo!("week4-day6 task 2: combine")
}
