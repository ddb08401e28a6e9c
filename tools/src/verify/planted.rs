//! Runs `cargo course trace` on planted mistakes, one at a time. The trace must name the function
//! that contains the mistake.
//!
//! The mistakes are the bank's entries with an expected trace, and a few failures other than wrong
//! numbers. A separate build for each would take minutes. So the learner's files get the
//! reference's bodies together with all mistakes, and one build serves all.

use anyhow::{Context, Result, ensure};

use super::{
    context::{Outcome, Verification},
    tree::write_if_changed,
};
use crate::{
    bank::{
        self, Kind,
        change::{Change, Region},
    },
    process::run_quietly,
    proof::{VARIANT, Variant, chosen},
    stubs::{Generated, generated},
};

/// Minimum distance of the mildest mistake from the right result, as a multiple of the tolerance.
const MARGIN: f64 = 20.0;

/// A body with a mistake.
struct Mistake {
    name: String,
    file: String,
    function: String,
    body: String,
    /// The expected output of the trace, in this order: where the activations differ, and the
    /// function.
    told: Vec<String>,
}

impl Mistake {
    fn variant((i, mistake): (usize, &Self)) -> Variant<'_> {
        let Self { name, file, function, body, .. } = mistake;
        Variant { number: i + 1, file, function, place: name, body }
    }
}

/// A failure other than wrong numbers, such as a panic. `change` is in the bank's format.
struct Failure {
    name: &'static str,
    file: &'static str,
    function: &'static str,
    change: &'static str,
    told: &'static [&'static str],
}

const FAILURES: [Failure; 4] = [
    Failure {
        name: "NaN",
        file: "src/week1/norm_mlp/norm.rs",
        function: "RmsNorm::forward",
        change: "    row.len() as f32 → f32::NAN",
        told: &[
            "layer 0, input_norm, position 0",
            "found     NaN",
            "are NaN or infinite",
            "Look at RmsNorm::forward",
        ],
    },
    Failure {
        name: "twice the positions of half the width",
        file: "src/week1/model/model.rs",
        function: "Embedding::forward",
        change: "    [b, l, self.weight.shape()[1]] → [b, l * 2, self.weight.shape()[1] / 2]",
        told: &["embedding\n  wrong shape: found [1, ", "Look at Embedding::forward"],
    },
    Failure {
        name: "a panic",
        file: "src/week1/norm_mlp/mlp.rs",
        function: "silu",
        change: "    (-x.abs()).exp() → if true { panic!(\"a planted panic\") } else { x }",
        told: &[
            "up to layers.0.mlp.gate",
            "on the way to layers.0.mlp.silu",
            "a planted panic (src/week1/norm_mlp/mlp.rs:",
            "Look at silu",
        ],
    },
    Failure {
        name: "a stub",
        file: "src/week1/norm_mlp/mlp.rs",
        function: "SwiGlu::forward",
        change: "    let up → if true { todo!(\"week1-day4 task 3: SwiGlu::forward\") } let up",
        told: &[
            "up to layers.0.mlp.up",
            "this needs week1-day4 task 3: SwiGlu::forward",
            "Look at SwiGlu::forward",
        ],
    },
];

/// Builds once, then traces the learner's files without a mistake and with each mistake.
pub(super) fn trace(v: &Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let mistakes = mistakes(v, &files)?;
    let outcome = plant(v, &files, &mistakes).and_then(|()| runs(v, &mistakes));
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    outcome
}

fn mistakes(v: &Verification, files: &[Generated]) -> Result<Vec<Mistake>> {
    let mut mistakes = Vec::new();
    for entry in bank::load(&v.root, &v.curriculum)? {
        let Kind::Wrong(wrong) = entry.kind else { continue };
        if !wrong.trace.is_empty() {
            let file = v.curriculum.task(&entry.task)?.file.clone();
            let (name, function) = (entry.path, entry.function);
            mistakes.push(Mistake { name, file, function, body: entry.body, told: wrong.trace });
        }
    }
    ensure!(!mistakes.is_empty(), "no entry of tests/wrong has a `trace:` line");
    for failure in &FAILURES {
        mistakes.push(failure.mistake(files)?);
    }
    Ok(mistakes)
}

impl Failure {
    fn mistake(&self, files: &[Generated]) -> Result<Mistake> {
        let Self { name, file, function, change, told } = self;
        let regions = files.iter().filter(|found| found.path == *file);
        let region = regions
            .flat_map(|found| found.template.regions())
            .find(|region| region.function.as_deref() == Some(*function))
            .with_context(|| format!("{name}: no region in {function}"))?;
        let region = region.body("").join("\n");
        let body = Change::parse(&[change]).and_then(|change| change.apply(&Region::new(region)?));
        Ok(Mistake {
            name: (*name).to_owned(),
            file: (*file).to_owned(),
            function: (*function).to_owned(),
            body: body.with_context(|| (*name).to_owned())?,
            told: told.iter().map(|&words| words.to_owned()).collect(),
        })
    }
}

fn plant(v: &Verification, files: &[Generated], mistakes: &[Mistake]) -> Result<()> {
    let variants: Vec<Variant> = mistakes.iter().enumerate().map(Mistake::variant).collect();
    for file in files {
        let text = file.template.render_arms(|_, function| {
            let here =
                |variant: &&Variant| variant.file == file.path && variant.function == function;
            (chosen(), variants.iter().filter(here).map(Variant::arm).collect())
        });
        write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
    }
    Ok(())
}

fn runs(v: &Verification, mistakes: &[Mistake]) -> Result<Outcome> {
    let run = |number: usize| {
        run_quietly(v.cargo("course trace").env(VARIANT, number.to_string()))
            .map(|finished| (finished.status, finished.text))
    };
    let (status, text) = run(0)?;
    let agree = text.lines().find(|line| line.starts_with("All ")).filter(|_| status.success());
    let agree = agree.with_context(|| {
        format!("the reference's bodies do not agree with the reference:\n{text}")
    })?;
    println!("no mistake: {agree}");
    let (mut problems, mut nearest) = (Vec::new(), f64::INFINITY);
    for (i, mistake) in mistakes.iter().enumerate() {
        let (status, text) = run(i + 1)?;
        nearest = times(&text).map_or(nearest, |times| nearest.min(times));
        match missing(&text, &mistake.told) {
            None if status.code() == Some(1) => {
                let times = times(&text)
                    .map_or(String::new(), |times| format!(" ({times} times the tolerance)"));
                println!("{}: {}{times}", mistake.name, mistake.told.join(" … "));
            }
            None => problems.push(format!("{}: exit {status}, expected 1", mistake.name)),
            Some(words) => {
                problems.push(format!("{}: expected {words:?} in\n{text}", mistake.name));
            }
        }
    }
    ensure!(
        problems.is_empty(),
        "{} of {} mistakes are not named\n{}",
        problems.len(),
        mistakes.len(),
        problems.join("\n")
    );
    // Check that the mildest mistake is far outside the tolerance.
    ensure!(
        nearest >= MARGIN,
        "the mildest mistake is only {nearest} times the tolerance, expected at least {MARGIN}"
    );
    Ok(Outcome::Passed(format!(
        "{} mistakes named, the mildest at {nearest:.0} times the tolerance",
        mistakes.len()
    )))
}

/// Finds the distance from the right result in a trace, as a multiple of the tolerance.
fn times(text: &str) -> Option<f64> {
    text.split_once(" times the tolerance")?.0.rsplit(' ').next()?.parse().ok()
}

/// Returns the first of `words` that does not occur in the text after the previous one.
fn missing<'a>(text: &str, words: &'a [String]) -> Option<&'a str> {
    let mut rest = text;
    for word in words {
        match rest.split_once(word.as_str()) {
            Some((_, after)) => rest = after,
            None => return Some(word),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::curriculum::Curriculum;

    #[test]
    fn every_failure_applies_to_the_reference() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = generated(root, &Curriculum::load(root).unwrap()).unwrap();
        for failure in &FAILURES {
            failure.mistake(&files).unwrap();
        }
    }

    #[test]
    fn times_parses_the_distance() {
        assert_eq!(
            times("  in all 2 of 3 numbers differ, by up to 0.5, 1250 times the tolerance\n"),
            Some(1250.0)
        );
        assert_eq!(times("a panic"), None);
    }

    #[test]
    fn missing_requires_the_words_in_order() {
        let words = ["one", "three"].map(str::to_owned);
        assert_eq!(missing("one two three", &words), None);
        assert_eq!(missing("three two one", &words), Some("three"));
    }
}
