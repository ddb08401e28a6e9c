//! The parts of week 2 that are enabled in a run.

use serde::Serialize;

/// A rung of the kernel ladder (one set of kernels). The last rung is the machine's best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kernels {
    Naive,
    Fused,
    Integer,
    Simd,
}

/// The parts that are enabled in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Setup {
    pub(super) cache: bool,
    pub(super) quantized: bool,
    pub(super) kernels: Kernels,
    pub(super) threads: bool,
    pub(super) streaming: bool,
    pub(super) f16_cache: bool,
}

/// Enables a part.
type Change = fn(&mut Setup);

impl Setup {
    pub(super) const NONE: Self = Self {
        cache: false,
        quantized: false,
        kernels: Kernels::Naive,
        threads: false,
        streaming: false,
        f16_cache: false,
    };
    pub(super) const ALL: Self = Self {
        cache: true,
        quantized: true,
        kernels: Kernels::Simd,
        threads: true,
        streaming: true,
        f16_cache: true,
    };

    /// Returns the setups with the parts added one by one, in the order of the days.
    pub(super) fn cumulative() -> Vec<(&'static str, Self)> {
        let steps: [(&str, Change); 9] = [
            ("no cache, f16 weights", |_| {}),
            ("KV cache", |s| s.cache = true),
            ("quantized, decoded row by row", |s| s.quantized = true),
            ("decoding fused with the dot", |s| s.kernels = Kernels::Fused),
            ("integer dot", |s| s.kernels = Kernels::Integer),
            ("SIMD", |s| s.kernels = Kernels::Simd),
            ("threads", |s| s.threads = true),
            ("streaming attention", |s| s.streaming = true),
            ("f16 cache", |s| s.f16_cache = true),
        ];
        let mut setup = Self::NONE;
        let on = |(name, turn_on): (_, Change)| {
            turn_on(&mut setup);
            (name, setup)
        };
        steps.into_iter().map(on).collect()
    }

    /// Returns the setups with one part left out. A rung needs all lower rungs: without fusing,
    /// there is no integer dot product, and without an integer dot product, there is no SIMD.
    pub(super) fn all_but_one() -> Vec<(&'static str, Self)> {
        let all = Self::ALL;
        vec![
            ("without the KV cache", Self { cache: false, ..all }),
            ("f16 weights", Self { quantized: false, ..all }),
            ("decoded row by row", Self { kernels: Kernels::Naive, ..all }),
            ("fused, no integer dot", Self { kernels: Kernels::Fused, ..all }),
            ("integer dot, no SIMD", Self { kernels: Kernels::Integer, ..all }),
            ("one thread", Self { threads: false, ..all }),
            ("two-pass attention", Self { streaming: false, ..all }),
            ("f32 cache", Self { f16_cache: false, ..all }),
        ]
    }

    /// Returns the options of the engine's command line. `threads` only matters if the setup has
    /// more than one thread.
    pub(super) fn arguments(self, threads: Option<u16>) -> Vec<String> {
        let mut words = Vec::new();
        let kernels = match self.kernels {
            Kernels::Naive => Some("naive"),
            Kernels::Fused => Some("fused"),
            Kernels::Integer => Some("integer"),
            Kernels::Simd => None,
        };
        words.extend(kernels.map(|name| format!("--kernels={name}")));
        let threads = if self.threads { threads } else { Some(1) };
        words.extend(threads.map(|n| format!("-j{n}")));
        words
            .push(format!("--attention={}", if self.streaming { "streaming" } else { "two-pass" }));
        words.push(format!("--cache-type={}", if self.f16_cache { "f16" } else { "f32" }));
        words.extend((!self.cache).then(|| "--no-cache".to_owned()));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cumulative_adds_one_part_per_step() {
        let steps = Setup::cumulative();
        assert_eq!((steps[0].1, steps.last().unwrap().1), (Setup::NONE, Setup::ALL));
        for pair in steps.windows(2) {
            let (before, after) = (pair[0].1.arguments(None), pair[1].1.arguments(None));
            let differing = before.iter().filter(|word| !after.contains(word)).count()
                + after.iter().filter(|word| !before.contains(word)).count();
            // Quantized weights need another file, but no argument.
            assert!(
                pair[0].1 != pair[1].1 && differing <= 2,
                "{}: {before:?} and {after:?}",
                pair[1].0
            );
        }
    }

    #[test]
    fn all_but_one_never_returns_the_full_setup() {
        for (name, setup) in Setup::all_but_one() {
            assert_ne!(setup, Setup::ALL, "{name}");
        }
        assert_eq!(
            Setup::ALL.arguments(Some(3)),
            ["-j3", "--attention=streaming", "--cache-type=f16"]
        );
        assert_eq!(
            Setup::NONE.arguments(Some(3)),
            ["--kernels=naive", "-j1", "--attention=two-pass", "--cache-type=f32", "--no-cache"]
        );
    }
}
