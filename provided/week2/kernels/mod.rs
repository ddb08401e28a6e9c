//! Days 5 and 6. Products of quantized matrices: a ladder of kernels, and the functions that choose
//! a kernel. Each rung of the ladder is one set of kernels.
//!
//! The naive rung is in this folder. The other rungs that the course teaches are in
//! `src/week2/kernels`. All other rungs, and the formats that no day teaches, are in the crate
//! `tiny_llm_kernels`.

pub mod naive;

use crate::week2::kernels::{fused, integer, unpacked};
use tiny_llm_formats::gguf::TensorType;
pub use tiny_llm_kernels::{
    Kernel,
    choice::Choice,
    q8_rows, repack,
    rung::{Rung, VARIABLE},
    vector,
};
use tiny_llm_kernels::{MANY, provided, unpacked::has_integers};

use crate::week2::{
    input::{Input, Prepared, quantize_activations},
    matrix::Matrix,
    parallel::Team,
};
use tiny_llm_kernels::parallel::Part;

/// Number of weight rows in a thread's unit of work, for [`BATCH`] or more rows of activations. It
/// is small, so that all threads finish at about the same time.
const GRAIN: usize = 32;
/// Approximate number of stretches per thread, for fewer than [`BATCH`] rows of activations. A
/// stretch is a run of at most [`LONG`] consecutive weight rows. With so few activations, memory
/// bandwidth is the limit, and long stretches are read faster.
const STRETCHES: usize = 4;
const LONG: usize = 256;
/// Minimum number of activation rows for which computing takes longer than reading the weights in
/// any order. Most prompts have at least this many rows. With fewer rows, as in a batch of
/// requests, memory bandwidth matters as well.
const BATCH: usize = 64;

/// Returns the kernel that the learner wrote for `rung`. It multiplies a matrix of type
/// `tensor_type` by `rows` rows of activations. Returns `None` if there is no such kernel.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(unused_variables, reason = "only vector kernels ask how many rows there are")
)]
fn written(rung: Rung, tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    match rung {
        Rung::Naive => Some(naive::kernel),
        Rung::Fused => Some(fused::kernel),
        Rung::Integer => has_integers(tensor_type).then_some(unpacked::kernel as Kernel),
        #[cfg(target_arch = "x86_64")]
        Rung::Avx2 => crate::week2::kernels::avx2::kernel(tensor_type, rows),
        #[cfg(target_arch = "aarch64")]
        Rung::Neon => crate::week2::kernels::neon::kernel(tensor_type, rows),
        _ => None,
    }
}

/// Returns whether `rung` runs the learner's code when it multiplies a matrix of type `tensor_type`
/// by `rows` rows of activations. On the first three rungs, this is true for every format that the
/// course teaches. On a vector rung, the learner's kernels must also support this format and number
/// of rows.
#[must_use]
pub fn is_written(rung: Rung, tensor_type: TensorType, rows: usize) -> bool {
    integer::dot(tensor_type).is_some() && written(rung, tensor_type, rows).is_some()
}

/// Returns the kernel that runs when `rung` is requested, and the rung of that kernel. Prefers the
/// learner's kernel, then the provided one, then the kernel of the next lower rung.
fn kernel(rung: Rung, tensor_type: TensorType, rows: usize) -> (Rung, Kernel) {
    written(rung, tensor_type, rows)
        .or_else(|| provided::kernel(rung, tensor_type, rows))
        .map_or_else(|| kernel(rung.below(), tensor_type, rows), |kernel| (rung, kernel))
}

/// Returns a kernel of `rung` or of a lower rung. The kernels for different values of `rows` may
/// differ, but all of them add in the same order. If `weight` is repacked, prefers a kernel for its
/// layout.
fn alike(rung: Rung, weight: &Matrix, rows: usize) -> Kernel {
    let tensor_type = weight.tensor_type;
    match rung {
        Rung::Naive => naive::kernel,
        Rung::Fused => fused::kernel,
        Rung::Integer if has_integers(tensor_type) => unpacked::kernel_for_many,
        // On Arm, kernels for a few rows and kernels for many rows add in different orders. So use
        // the kernel for a few rows, which processes one row after the other.
        _ => {
            let rows_alike = if cfg!(target_arch = "aarch64") { 1 } else { rows };
            provided::repacked(rung, weight, rows)
                .or_else(|| provided::kernel(rung, tensor_type, rows_alike))
                .unwrap_or_else(|| alike(rung.below(), weight, rows))
        }
    }
}

/// Returns the rung whose kernel runs when `rung` is requested. The result is a lower rung if
/// `rung` has no kernel for this type and number of rows.
#[must_use]
pub fn serving(rung: Rung, tensor_type: TensorType, rows: usize) -> Rung {
    kernel(rung, tensor_type, rows).0
}

/// Computes `out[t, r] = Σ weight[r, c] · x[t, c]` on all threads of the team. Shapes:
/// `weight [R, C]`, `x [T, C]`, `out [T, R]`.
///
/// # Panics
/// If the sizes don't match, or this machine can't run `rung`.
pub fn matmul(rung: Rung, team: &Team, weight: &Matrix, x: Prepared<'_>, out: &mut [f32]) {
    let (_, kernel) = kernel(rung, weight.tensor_type, x.rows);
    multiply(team, x, [Product { kernel, rung, weight, out }]);
}

/// Like [`matmul`], but each row of `out` is bit for bit the same as if its row of `x` were
/// multiplied alone. For this, additions are done in the same order for any number of rows.
///
/// The learner's kernels may add in a different order than the provided ones. So if a learner's
/// kernel supports only some numbers of rows, this function uses a provided one instead.
///
/// # Panics
/// In the same cases as [`matmul`].
pub fn matmul_alike(rung: Rung, team: &Team, weight: &Matrix, x: Prepared<'_>, out: &mut [f32]) {
    let kernel = alike(rung, weight, x.rows);
    multiply(team, x, [Product { kernel, rung, weight, out }]);
}

/// Computes several products of one input as one job of the team. Each product is a pair `(weight,
/// out)`. If [`Choice::is_alike`] is true, every output is what [`matmul_alike`] would compute.
/// Otherwise, every output is what [`matmul`] would compute.
///
/// # Panics
/// In the same cases as [`matmul`].
pub(crate) fn matmuls<const N: usize>(
    choice: &Choice,
    team: &Team,
    x: Prepared<'_>,
    products: [(&Matrix, &mut [f32]); N],
) {
    let product = |(weight, out): (_, _)| {
        let weight: &Matrix = weight;
        let rung = choice.rung(weight.tensor_type);
        let kernel = if choice.is_alike() {
            alike(rung, weight, x.rows)
        } else {
            kernel(rung, weight.tensor_type, x.rows).1
        };
        Product { kernel, rung, weight, out }
    };
    multiply(team, x, products.map(product));
}

/// A matrix, the kernel that multiplies by it, and the buffer for the product.
struct Product<'a> {
    kernel: Kernel,
    rung: Rung,
    weight: &'a Matrix,
    out: &'a mut [f32],
}

impl Product<'_> {
    /// Checks that this product can be computed for the input `x`.
    ///
    /// # Panics
    /// If the processor lacks the kernel's instructions, the sizes don't match, or `x` isn't
    /// quantized as the kernel requires.
    fn check(&self, x: Prepared<'_>) {
        let Self { rung, weight, out, .. } = self;
        assert!(rung.is_available(), "this machine's processor lacks the instructions of {rung}");
        assert_eq!(
            weight.cols, x.cols,
            "found a matrix of {} columns and rows of {} values, expected equal lengths",
            weight.cols, x.cols
        );
        assert_eq!(
            out.len(),
            x.rows * weight.rows,
            "found room for {} values, expected {} rows of {} values",
            out.len(),
            x.rows,
            weight.rows
        );
        assert_eq!(
            x.values.len(),
            x.rows * x.cols,
            "found an input of {} values, expected {} rows of {} values",
            x.values.len(),
            x.rows,
            x.cols
        );
        if rung.wants_int8() {
            let per_scale = x.per_scale().expect("an int8 rung needs a quantized input");
            let block = weight.tensor_type.block_len();
            assert!(
                per_scale >= block,
                "found {per_scale} activations per scale, expected at least {block}, the length of \
                 a block"
            );
        }
    }
}

#[allow(unsafe_code, reason = "the one place where kernels are called")]
fn multiply<const N: usize>(team: &Team, x: Prepared<'_>, products: [Product<'_>; N]) {
    products.iter().for_each(|product| product.check(x));
    let outputs: usize = products.iter().map(|product| product.weight.rows).sum();
    let stretch = outputs.div_ceil(STRETCHES * team.threads());
    // A kernel multiplies two groups of side-by-side rows at a time.
    let step = products.iter().map(|product| 2 * product.weight.rows_side_by_side());
    let step = step.fold(8, usize::max);
    let grain = match x.rows {
        ..MANY => stretch.next_multiple_of(step).clamp(step, LONG),
        MANY..BATCH => stretch.next_multiple_of(GRAIN).clamp(GRAIN, LONG),
        _ => GRAIN,
    };
    let kernels = products.each_ref().map(|product| (product.kernel, product.weight));
    let parts = products.map(|Product { weight, out, .. }| Part {
        out,
        width: weight.rows,
        tile: (x.rows, grain),
    });
    team.parallel_parts(parts, |i, tile| {
        let (kernel, weight) = kernels[i];
        // SAFETY: the machine has the instructions of this rung and of all lower rungs.
        unsafe { kernel(weight, &x, tile) }
    });
}

/// Quantizes `x` with the instructions of `rung` (a set of kernels). Every `per_scale` activations
/// share a scale.
///
/// # Panics
/// If this machine can't run `rung`.
pub fn quantize<'a>(rung: Rung, team: &Team, x: &'a mut Input, per_scale: usize) -> Prepared<'a> {
    if provided::quantize(rung, team, x, per_scale) {
        x.with_int8(per_scale)
    } else {
        x.quantize_with(team, per_scale, quantize_activations)
    }
}
