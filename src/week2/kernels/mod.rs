//! Days 5 and 6. Products of quantized matrices: a ladder of kernels, and the one place where a
//! rung is chosen.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod fused;
pub mod integer;
pub mod naive;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(target_arch = "x86_64")]
mod prefetch;
#[cfg(target_arch = "x86_64")]
mod streams;
pub mod unpacked;
pub mod vector;

use std::{fmt, str::FromStr};

use tiny_llm_formats::gguf::TensorType;

use super::{
    input::Input,
    matrix::Matrix,
    parallel::{Team, Tile},
};

/// Names a rung, so that every command uses it: `TINY_LLM_KERNELS=naive`.
pub const VARIABLE: &str = "TINY_LLM_KERNELS";

/// Rows of a weight matrix that a thread takes at a time: few, so that all threads are busy to the
/// end.
const GRAIN: usize = 32;
/// With few rows of activations memory is the limit, and long runs of rows are read faster: so many
/// for each thread, each of no more than [`LONG`] rows.
const RUNS: usize = 4;
const LONG: usize = 256;
/// Rows of activations from which on arithmetic is the limit.
const MANY: usize = 4;

/// Computes a rectangle of the output: `tile[t, r] = Σ weight[r, c] · x[t, c]`.
///
/// # Safety
/// The machine has the instructions of the kernel's rung, see [`Rung::is_available`].
pub type Kernel = unsafe fn(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>);

/// The rungs. Each is checked against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Decode a row into a buffer, then multiply.
    Naive,
    /// Decode and multiply a block at a time, in f32.
    Fused,
    /// Multiply the integers of weights and activations, then scale.
    Integer,
    /// The same with 256-bit instructions (x86-64).
    Avx2,
    /// With 512-bit instructions and one for dot products of bytes (x86-64).
    Avx512Vnni,
    /// With 128-bit instructions (64-bit Arm).
    Neon,
    /// And one for dot products of bytes (64-bit Arm).
    NeonDot,
}

impl Rung {
    /// Every rung, on whatever machine.
    pub const ALL: [Self; 7] = [
        Self::Naive,
        Self::Fused,
        Self::Integer,
        Self::Avx2,
        Self::Avx512Vnni,
        Self::Neon,
        Self::NeonDot,
    ];

    /// Whether this machine can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Naive | Self::Fused | Self::Integer => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => {
                Self::Neon.is_available() && std::arch::is_aarch64_feature_detected!("dotprod")
            }
            #[allow(unreachable_patterns, reason = "the other architecture's rungs")]
            _ => false,
        }
    }

    /// Every rung that this machine can run, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|rung| rung.is_available()).collect()
    }

    /// The fastest that this machine can run.
    #[must_use]
    pub fn best() -> Self {
        *Self::available().last().expect("the naive rung runs everywhere")
    }

    /// The rung that [`VARIABLE`] names, or else the best.
    ///
    /// # Errors
    /// If it names none, or one that this machine cannot run.
    pub fn from_environment() -> Result<Self, String> {
        match std::env::var(VARIABLE) {
            Ok(name) => name.parse().map_err(|e| format!("{VARIABLE}: {e}")),
            Err(_) => Ok(Self::best()),
        }
    }

    /// Whether this rung multiplies int8 activations.
    #[must_use]
    pub fn wants_int8(self) -> bool {
        self >= Self::Integer
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Fused => "fused",
            Self::Integer => "integer",
            Self::Avx2 => "avx2",
            Self::Avx512Vnni => "avx512-vnni",
            Self::Neon => "neon",
            Self::NeonDot => "neon-dot",
        }
    }

    /// The rung whose kernels serve where this one has none.
    fn below(self) -> Self {
        match self {
            Self::Naive | Self::Fused => Self::Naive,
            Self::Integer => Self::Fused,
            Self::Avx2 | Self::Neon => Self::Integer,
            Self::Avx512Vnni => Self::Avx2,
            Self::NeonDot => Self::Neon,
        }
    }

    /// The kernel for a matrix of `tensor_type` and `rows` rows of activations.
    fn kernel(self, tensor_type: TensorType, rows: usize) -> Kernel {
        let own: Option<Kernel> = match self {
            Self::Naive => Some(naive::kernel),
            Self::Fused => fused::dot(tensor_type).map(|_| fused::kernel as Kernel),
            Self::Integer => integer::dot(tensor_type).map(|_| unpacked::kernel as Kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::kernel(tensor_type, rows),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => Some(avx512::kernel(tensor_type, rows)),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => neon::kernel(tensor_type),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => neon::kernel_with_dot_product(tensor_type),
            _ => None,
        };
        own.unwrap_or_else(|| self.below().kernel(tensor_type, rows))
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rung {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names =
            || Self::available().iter().map(|rung| rung.name()).collect::<Vec<_>>().join(", ");
        match Self::ALL.into_iter().find(|rung| rung.name() == name) {
            Some(rung) if rung.is_available() => Ok(rung),
            Some(_) => Err(format!(
                "found {name:?}, which this machine's processor lacks, expected one of {}",
                names()
            )),
            None => Err(format!("found {name:?}, expected one of {}", names())),
        }
    }
}

/// `out[t, r] = Σ weight[r, c] · x[t, c]`: `weight [R, C]`, `x [T, C]` → `out [T, R]`, on all
/// threads of the team.
///
/// # Panics
/// If the sizes do not fit, or this machine cannot run the rung.
#[allow(unsafe_code, reason = "the one place where kernels are called")]
pub fn matmul(rung: Rung, team: &Team, weight: &Matrix, x: &Input, out: &mut [f32]) {
    assert!(rung.is_available(), "this machine's processor lacks the instructions of {rung}");
    assert_eq!(
        weight.cols, x.cols,
        "a matrix of {} columns times rows of {} values",
        weight.cols, x.cols
    );
    assert_eq!(
        out.len(),
        x.rows * weight.rows,
        "room for {} values, expected {} rows of {}",
        out.len(),
        x.rows,
        weight.rows
    );
    assert_eq!(
        x.values.len(),
        x.rows * x.cols,
        "an input of {} values, expected {} rows of {}",
        x.values.len(),
        x.rows,
        x.cols
    );
    if rung.wants_int8() {
        assert_eq!(
            x.int8.len(),
            x.rows * x.groups(),
            "an input of {} int8 groups: it was not quantized",
            x.int8.len()
        );
        let block = weight.tensor_type.block_len();
        assert!(
            x.width >= block,
            "an input with a scale for each {} activations times blocks of {block} weights",
            x.width
        );
    }
    let kernel = rung.kernel(weight.tensor_type, x.rows);
    let run = weight.rows.div_ceil(RUNS * team.threads()).next_multiple_of(4);
    let grain = if x.rows < MANY { run.clamp(4, LONG) } else { GRAIN };
    team.parallel_tiles(out, weight.rows, (x.rows, grain), |tile| {
        // SAFETY: the machine has the rung's instructions, and those of the rungs below.
        unsafe { kernel(weight, x, tile) }
    });
}

/// [`Input::quantize`] with a rung's instructions.
///
/// # Panics
/// If this machine cannot run the rung.
#[allow(unsafe_code, reason = "the one place where kernels are called")]
pub fn quantize(rung: Rung, team: &Team, x: &mut Input, width: usize) {
    assert!(rung.is_available(), "this machine's processor lacks the instructions of {rung}");
    match rung {
        // SAFETY: the machine has the rung's instructions.
        #[cfg(target_arch = "x86_64")]
        Rung::Avx2 => x.quantize_with(team, width, |x, width, groups| unsafe {
            avx2::quantize_row(x, width, groups);
        }),
        // SAFETY: the machine has the rung's instructions.
        #[cfg(target_arch = "x86_64")]
        Rung::Avx512Vnni => x.quantize_with(team, width, |x, width, groups| unsafe {
            avx512::quantize_row(x, width, groups);
        }),
        _ => x.quantize(team, width),
    }
}
