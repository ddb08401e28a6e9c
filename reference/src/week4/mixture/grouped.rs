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
    // SOLUTION week4-day6 task 2
    let mut starts = vec![0; experts + 1];
    for &expert in chosen {
        assert!(expert < experts, "found expert {expert}, expected one below {experts}");
        starts[expert + 1] += 1;
    }
    for expert in 0..experts {
        starts[expert + 1] += starts[expert];
    }
    let mut next = starts.clone();
    let mut members = vec![0; chosen.len()];
    for (assignment, &expert) in chosen.iter().enumerate() {
        members[next[expert]] = assignment;
        next[expert] += 1;
    }
    Groups { starts, members }
    // END SOLUTION
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
    // SOLUTION week4-day6 task 2
    let (rows, cols) = (experts[0].rows, experts[0].cols);
    let assignments = groups.members.len();
    assert_eq!(
        out.len(),
        assignments * rows,
        "`out`: expected {assignments} rows of {rows} values"
    );
    let (inputs, left) = (x.len() / cols, x.len() % cols);
    assert!(
        left == 0 && (inputs == assignments || inputs > 0 && assignments.is_multiple_of(inputs)),
        "`x`: found {} values, expected rows of {cols} values for {assignments} assignments",
        x.len()
    );
    let share = assignments.checked_div(inputs).unwrap_or(1);
    let block = experts.iter().map(|matrix| matrix.tensor_type.block_len()).fold(1, usize::max);
    // Rows that several experts read are prepared only once.
    let shared = (share > 1).then(|| {
        work.rows.resize(inputs, cols);
        work.rows.values.copy_from_slice(x);
        plan.prepare_for(&mut work.rows, block)
    });
    let mut bytes = 0;
    if work.output.len() < out.len() {
        work.output = vec![0.0; out.len()];
    }
    for (expert, matrix) in experts.iter().enumerate() {
        let members = groups.of(expert);
        if members.is_empty() {
            continue;
        }
        let input = match shared {
            Some(rows) => {
                work.input.gather(&plan.team, rows, members.len(), |i| members[i] / share)
            }
            None => {
                work.input.resize(members.len(), cols);
                plan.team.parallel_rows(&mut work.input.values, cols, ROWS, |i, row| {
                    row.copy_from_slice(&x[members[i] * cols..][..cols]);
                });
                plan.prepare_for(&mut work.input, block)
            }
        };
        let mine = groups.starts[expert] * rows..groups.starts[expert + 1] * rows;
        plan.product(matrix, input, &mut work.output[mine]);
        bytes += matrix.bytes().len();
    }
    let mut places = vec![0; assignments];
    for (place, &member) in groups.members.iter().enumerate() {
        places[member] = place;
    }
    plan.team.parallel_rows(out, rows, ROWS, |a, row| {
        row.copy_from_slice(&work.output[places[a] * rows..][..rows]);
    });
    bytes
    // END SOLUTION
}

/// Overwrites `out [T, E]` with the weighted sum of each token's expert outputs.
/// `outputs [T · k, E]` and `weights [T · k]` have an entry for each assignment.
pub fn combine(outputs: &[f32], weights: &[f32], out: &mut [f32]) {
    // SOLUTION week4-day6 task 2
    let width = outputs.len() / weights.len();
    let k = weights.len() * width / out.len();
    for (t, out) in out.chunks_exact_mut(width).enumerate() {
        out.fill(0.0);
        for a in t * k..(t + 1) * k {
            let row = &outputs[a * width..][..width];
            out.iter_mut().zip(row).for_each(|(out, x)| *out += weights[a] * x);
        }
    }
    // END SOLUTION
}
