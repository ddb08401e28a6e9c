//! The table from rung (set of kernels), format and number of rows to a kernel of this crate.

#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(unused_variables, unreachable_code, reason = "other processors have no kernel here")
)]

#[cfg(target_arch = "aarch64")]
use crate::neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::simd128;
use crate::{
    Kernel,
    input::Input,
    matrix::Matrix,
    parallel::{Schedule, Team},
    rung::Rung,
    withheld,
};
#[cfg(target_arch = "x86_64")]
use crate::{
    amx, avx2, avx512,
    repack::{EIGHT, SIXTEEN},
};
use tiny_llm_formats::gguf::TensorType;

/// Returns the kernel of `rung` for a matrix of `tensor_type` and `rows` rows of activations, or
/// `None` if this crate has no such kernel.
pub fn kernel(rung: Rung, tensor_type: TensorType, rows: usize) -> Option<Kernel> {
    withheld::check("provided::kernel");
    match rung {
        #[cfg(target_arch = "x86_64")]
        Rung::Avx2 => Some(avx2::kernel(tensor_type, rows)),
        #[cfg(target_arch = "x86_64")]
        Rung::Avx512Vnni => Some(avx512::kernel(tensor_type, rows)),
        #[cfg(target_arch = "x86_64")]
        Rung::Amx => Some(amx::kernel(tensor_type, rows)),
        #[cfg(target_arch = "aarch64")]
        Rung::Neon | Rung::NeonDot | Rung::NeonI8mm => neon::kernel(rung, tensor_type, rows),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Rung::Simd128 => simd128::kernel(tensor_type),
        _ => None,
    }
}

/// Returns this crate's kernel for a matrix that was repacked for `rung`, and for `rows` rows of
/// activations. Returns `None` if the weights are in the layout of the file, or if the kernel for
/// the file's layout is faster.
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_variables, reason = "only x86-64 has kernels for repacked weights")
)]
pub fn repacked(rung: Rung, weight: &Matrix, rows: usize) -> Option<Kernel> {
    #[cfg(target_arch = "x86_64")]
    if rung == Rung::Avx2 && weight.side_by_side(EIGHT, 0).is_some() {
        return avx2::repacked(weight.tensor_type, rows);
    } else if rung == Rung::Avx512Vnni && weight.side_by_side(SIXTEEN, 0).is_some() {
        return avx512::repacked(weight.tensor_type);
    }
    None
}

/// Quantizes `x` with the instructions of `rung`, with one scale per `per_scale` values. Does
/// nothing and returns false if the rung has no such instructions.
///
/// # Panics
/// If this machine cannot run the rung.
#[allow(unsafe_code, reason = "functions that ask for instructions")]
pub fn quantize<S: Schedule>(rung: Rung, team: &Team<S>, x: &mut Input, per_scale: usize) -> bool {
    withheld::check("provided::quantize");
    assert!(rung.is_available(), "this machine's processor lacks the instructions of {rung}");
    match rung {
        #[cfg(target_arch = "x86_64")]
        Rung::Avx2 => {
            x.quantize_with(team, per_scale, |x, per_scale, super_blocks| {
                // SAFETY: the machine has the rung's instructions.
                unsafe { avx2::quantize_activations(x, per_scale, super_blocks) }
            });
        }
        #[cfg(target_arch = "x86_64")]
        Rung::Avx512Vnni | Rung::Amx => {
            x.quantize_with(team, per_scale, |x, per_scale, super_blocks| {
                // SAFETY: the machine has the rung's instructions.
                unsafe { avx512::quantize_activations(x, per_scale, super_blocks) }
            });
            if rung == Rung::Amx && x.rows >= amx::FROM {
                x.make_tiles(team);
            }
        }
        #[cfg(target_arch = "aarch64")]
        Rung::Neon | Rung::NeonDot | Rung::NeonI8mm => {
            x.quantize_with(team, per_scale, |x, per_scale, super_blocks| {
                // SAFETY: the machine has the rung's instructions.
                unsafe { neon::quantize_activations(x, per_scale, super_blocks) }
            });
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Rung::Simd128 => {
            x.quantize_with(team, per_scale, simd128::quantize_activations);
        }
        _ => return false,
    }
    true
}
