//! The rungs of the ladder: their names, and which of them this machine can run. A rung is one set
//! of kernels, such as those with AVX2 instructions.

use std::{fmt, str::FromStr};

/// Name of the environment variable that selects a rung for every command:
/// `TINY_LLM_KERNELS=naive`.
pub const VARIABLE: &str = "TINY_LLM_KERNELS";

/// The rungs of the ladder. Each rung is tested against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Decode a row into a buffer, then multiply.
    Naive,
    /// Decode and multiply a block at a time, in f32.
    Fused,
    /// Multiply the integers of weights and activations, then scale.
    Integer,
    /// Multiply integers with 256-bit instructions (x86-64).
    Avx2,
    /// Multiply integers with 512-bit instructions, including dot products of bytes (x86-64).
    Avx512Vnni,
    /// Multiply many rows of activations with the tiles of a matrix unit (x86-64).
    Amx,
    /// Multiply integers with 128-bit instructions (64-bit Arm).
    Neon,
    /// Like [`Self::Neon`], but with dot products of bytes (64-bit Arm).
    NeonDot,
    /// Like [`Self::NeonDot`], but multiply many rows of activations with matrix products of bytes
    /// (64-bit Arm).
    NeonI8mm,
    /// Multiply integers with 128-bit instructions (WebAssembly).
    Simd128,
}

impl Rung {
    /// All rungs, on any machine.
    pub const ALL: [Self; 10] = [
        Self::Naive,
        Self::Fused,
        Self::Integer,
        Self::Avx2,
        Self::Avx512Vnni,
        Self::Amx,
        Self::Neon,
        Self::NeonDot,
        Self::NeonI8mm,
        Self::Simd128,
    ];

    /// Returns whether this machine can run this rung.
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
            #[cfg(target_arch = "x86_64")]
            Self::Amx => Self::Avx512Vnni.is_available() && crate::amx::state().is_ok(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => {
                Self::Neon.is_available() && std::arch::is_aarch64_feature_detected!("dotprod")
            }
            #[cfg(target_arch = "aarch64")]
            Self::NeonI8mm => {
                Self::NeonDot.is_available() && std::arch::is_aarch64_feature_detected!("i8mm")
            }
            // This is known at compile time, because a browser without these instructions rejects
            // the whole module.
            Self::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            #[allow(unreachable_patterns, reason = "the other architecture's rungs")]
            _ => false,
        }
    }

    /// Returns why the operating system withholds this rung from a processor that has its
    /// instructions. Returns `None` if the system doesn't withhold it.
    pub fn refused(self) -> Option<String> {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Amx && Self::Avx512Vnni.is_available() {
            use crate::amx::{Refusal, state};
            return state().err().filter(|why| *why != Refusal::Absent).map(|why| why.to_string());
        }
        None
    }

    /// Returns every rung that this machine can run, slowest first.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|rung| rung.is_available()).collect()
    }

    /// Returns the fastest rung that this machine can run.
    pub fn best() -> Self {
        *Self::available().last().expect("the naive rung runs everywhere")
    }

    /// Returns the rung that [`VARIABLE`] names, or else the fastest.
    ///
    /// # Errors
    /// If the variable doesn't name a rung, or names one that this machine can't run.
    pub fn from_environment() -> Result<Self, String> {
        match std::env::var(VARIABLE) {
            Ok(name) => name.parse().map_err(|e| format!("{VARIABLE}: {e}")),
            Err(_) => Ok(Self::best()),
        }
    }

    /// Returns whether this rung multiplies int8 activations.
    pub fn wants_int8(self) -> bool {
        self >= Self::Integer
    }

    /// Returns the rung's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Fused => "fused",
            Self::Integer => "integer",
            Self::Avx2 => "avx2",
            Self::Avx512Vnni => "avx512-vnni",
            Self::Amx => "amx",
            Self::Neon => "neon",
            Self::NeonDot => "neon-dot",
            Self::NeonI8mm => "neon-i8mm",
            Self::Simd128 => "simd128",
        }
    }

    /// Returns the next lower rung, whose kernels multiply the formats for which this rung has no
    /// kernels.
    pub fn below(self) -> Self {
        match self {
            Self::Naive | Self::Fused => Self::Naive,
            Self::Integer => Self::Fused,
            Self::Avx2 | Self::Neon | Self::Simd128 => Self::Integer,
            Self::Avx512Vnni => Self::Avx2,
            Self::Amx => Self::Avx512Vnni,
            Self::NeonDot => Self::Neon,
            Self::NeonI8mm => Self::NeonDot,
        }
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
