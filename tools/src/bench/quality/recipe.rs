//! The types in which a model is written.

use std::ops::Range;

/// Named options of `quantize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) name: String,
    /// The value of `--type`.
    target: &'static str,
    /// The values of `--tensor`. The first that matches applies.
    overrides: Vec<String>,
}

/// Every value of `--type`, in descending order of the number of bits in its name.
const TYPES: [&str; 13] = [
    "f32", "f16", "bf16", "q8_0", "q6_k", "q5_k_m", "q5_1", "q5_0", "q4_k_m", "q4_1", "q4_0",
    "q3_k_m", "q2_k",
];

impl Recipe {
    /// Returns the recipe with everything in F32.
    pub(super) fn plain() -> Self {
        Self::of_type("f32")
    }

    /// Returns a recipe for each type, then mixed recipes for a model with this many layers.
    pub(super) fn all(layers: usize) -> Vec<Self> {
        let mut all: Vec<Self> = TYPES.into_iter().map(Self::of_type).collect();
        for (name, target, pattern) in [
            ("all Q4_K", "q4_k_m", ".*=q4_k"),
            ("all Q3_K", "q3_k_m", ".*=q3_k"),
            ("all Q2_K", "q2_k", ".*=q2_k"),
        ] {
            all.push(Self { name: name.to_owned(), target, overrides: vec![pattern.to_owned()] });
        }
        // The recipes for early and for late layers select the same number of layers. If there is a
        // middle layer, both leave it in Q2_K.
        let half = layers / 2;
        let fine = [
            ("early layers Q6_K", of_layers(0..half)),
            ("late layers Q6_K", of_layers(layers - half..layers)),
            ("attn_v Q6_K", r".*\.attn_v\..*=q6_k".to_owned()),
            ("ffn_down Q6_K", r".*\.ffn_down\..*=q6_k".to_owned()),
            ("embedding Q8_0", "token_embd.*=q8_0".to_owned()),
        ];
        all.extend(fine.map(|(name, pattern)| Self {
            name: format!("Q2_K, but {name}"),
            target: "q2_k",
            overrides: vec![pattern, ".*=q2_k".to_owned()],
        }));
        all
    }

    fn of_type(target: &'static str) -> Self {
        Self { name: target.to_uppercase(), target, overrides: Vec::new() }
    }

    /// Returns the arguments of `quantize` that follow its two files.
    pub(super) fn arguments(&self) -> Vec<String> {
        let overrides = self.overrides.iter().map(|pattern| format!("--tensor={pattern}"));
        [format!("--type={}", self.target)].into_iter().chain(overrides).collect()
    }
}

fn of_layers(layers: Range<usize>) -> String {
    let numbers: Vec<String> = layers.map(|layer| layer.to_string()).collect();
    format!(r"blk\.({})\..*=q6_k", numbers.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_quantize_is_measured() {
        let source = include_str!("../../../../provided/week2/k_quants/target.rs");
        let list =
            source.split("pub const ALL").nth(1).and_then(|rest| rest.split("];").next()).unwrap();
        let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(TYPES.to_vec(), names);
    }

    #[test]
    fn selects_the_first_and_the_last_layers() {
        let arguments = |layers, name: &str| {
            Recipe::all(layers).into_iter().find(|r| r.name.contains(name)).unwrap().arguments()
        };
        assert_eq!(
            arguments(5, "late"),
            ["--type=q2_k", r"--tensor=blk\.(3|4)\..*=q6_k", "--tensor=.*=q2_k"]
        );
        assert_eq!(arguments(12, "early")[1], r"--tensor=blk\.(0|1|2|3|4|5)\..*=q6_k");
        assert_eq!(Recipe::plain().arguments(), ["--type=f32"]);
    }
}
