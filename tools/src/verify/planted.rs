//! `cargo course trace` on mistakes planted one at a time: it must name the function that each
//! stands in.
//!
//! A build for each would take minutes. So the learner's files get the reference's bodies with all
//! mistakes in them, each behind an environment variable, and one build serves all.

use anyhow::{Context, Result, ensure};

use super::{
    context::{Outcome, Verification},
    tree::write_if_changed,
};
use crate::{
    process::run_quietly,
    stubs::{Generated, generated},
};

/// Names the mistake that is on.
const SWITCH: &str = "TINY_LLM_PLANTED";

/// The mildest mistake is this many tolerances away.
const MARGIN: f64 = 20.0;

/// A mistake: an expression of the reference and what stands in its place.
struct Mistake {
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// What the trace must print, in this order: where it differs, and the function.
    told: &'static [&'static str],
}

/// At least one in every function that the forward pass goes through, and the ways to go wrong
/// without a wrong number.
const MISTAKES: [Mistake; 24] = [
    Mistake {
        name: "softmax without its sum",
        file: "src/week1/attention.rs",
        right: "v / sum",
        wrong: "v + 0.0 * sum",
        told: &[
            "layer 0, attention.head_0.weights, head 0, position 1",
            "Look at softmax, week1-day1 task 1",
        ],
    },
    Mistake {
        name: "weight not transposed",
        file: "src/week1/attention.rs",
        right: "matmul(x, transpose(weight))",
        wrong: "matmul(x, tiny_llm_formats::tensor::reshape(weight, &[weight.shape()[1], weight.shape()[0]]).view())",
        told: &["layer 0, attention.q_proj, position 0", "Look at linear, week1-day1 task 1"],
    },
    Mistake {
        name: "scale 1/D",
        file: "src/week1/attention.rs",
        right: "1.0 / (head_dim as f32).sqrt()",
        wrong: "1.0 / head_dim as f32",
        told: &[
            "layer 0, attention.head_0, head 0, position 1",
            "Look at scaled_dot_product_attention, week1-day1 task 2",
        ],
    },
    Mistake {
        name: "heads split by a reshape",
        file: "src/week1/attention.rs",
        right: "swap_axes(&reshape(x, &[b, l, n_heads, width / n_heads]), 1, 2)",
        wrong: "reshape(x, &[b, n_heads, l, width / n_heads])",
        told: &[
            "layer 0, attention.q_heads, head 0, position 1",
            "Look at split_heads, week1-day1 task 3",
        ],
    },
    Mistake {
        name: "heads merged by a reshape",
        file: "src/week1/attention.rs",
        right: "reshape(&swap_axes(x, 1, 2), &[b, l, h * d])",
        wrong: "reshape(x, &[b, l, h * d])",
        told: &["layer 0, attention.merged, position 0", "Look at merge_heads, week1-day1 task 3"],
    },
    Mistake {
        name: "RoPE base squared away",
        file: "src/week1/rope.rs",
        right: "-2.0 * i as f64 / head_dim as f64",
        wrong: "-(i as f64) / head_dim as f64",
        told: &[
            "rope.cos, position 1 (\" upon\"), pair 1",
            "inverse_frequencies, week1-day2 task 1",
        ],
    },
    Mistake {
        name: "positions from 1",
        file: "src/week1/rope.rs",
        right: "p as f32 * theta",
        wrong: "(p + 1) as f32 * theta",
        told: &["rope.cos, position 0", "RopeTables::new, week1-day2 task 1"],
    },
    Mistake {
        name: "halves swapped",
        file: "src/week1/rope.rs",
        right: "(row[i], row[i + half])",
        wrong: "(row[i + half], row[i])",
        told: &[
            "layer 0, attention.q_rope, head 0, position 0",
            "Look at rope_half_split, week1-day2 task 3",
        ],
    },
    Mistake {
        name: "query heads in turn",
        file: "src/week1/gqa.rs",
        right: "reshape(q, &[b, h, group, l, d])",
        wrong: "tiny_llm_formats::tensor::swap_axes(&reshape(q, &[b, group, h, l, d]), 1, 2)",
        told: &[
            "layer 0, attention.heads, head 1, position 1",
            "heads 1 to 2 of 0 to 3",
            "grouped_query_attention, week1-day3 task 1",
        ],
    },
    Mistake {
        name: "a mask that hides the present",
        file: "src/week1/gqa.rs",
        right: "at[1] <= keys - length + at[0]",
        wrong: "at[1] < keys - length + at[0]",
        told: &["causal_mask, query 0, key 0", "Look at causal_mask, week1-day3 task 2"],
    },
    Mistake {
        name: "queries not turned",
        file: "src/week1/gqa.rs",
        right: "rope_half_split(&q, &self.rope, 0)",
        wrong: "q.clone()",
        told: &[
            "layer 0, attention, position 1",
            "Look at GroupedQueryAttention::forward, week1-day3 task 3",
        ],
    },
    Mistake {
        name: "norm without its weight",
        file: "src/week1/norm.rs",
        right: "out * &self.weight",
        wrong: "out",
        told: &["layer 0, input_norm, position 0", "Look at RmsNorm::forward, week1-day4 task 1"],
    },
    Mistake {
        name: "eps outside the root, and large",
        file: "src/week1/norm.rs",
        right: "1.0 / (mean_square + self.eps).sqrt()",
        wrong: "1.0 / (mean_square.sqrt() + self.eps.sqrt())",
        told: &["layer 0, input_norm, position 0", "Look at RmsNorm::forward, week1-day4 task 1"],
    },
    Mistake {
        name: "GELU",
        file: "src/week1/mlp.rs",
        right: "if x >= 0.0 { x / (1.0 + e) } else { x * e / (1.0 + e) }",
        wrong: "0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())",
        told: &["layer 0, mlp.silu, position 0", "Look at silu, week1-day4 task 2"],
    },
    Mistake {
        name: "gate and up swapped",
        file: "src/week1/mlp.rs",
        right: "linear(&(gate * up), &self.down_proj, None)",
        wrong: "linear(&(silu(&up) * linear(x, &self.gate_proj, None)), &self.down_proj, None)",
        told: &["layer 0, mlp, position 0", "Look at SwiGlu::forward, week1-day4 task 3"],
    },
    Mistake {
        name: "the next token's row",
        file: "src/week1/model.rs",
        right: "token as usize",
        wrong: "token as usize + 1",
        told: &[
            "embedding, position 0 (\"Once\")",
            "Look at Embedding::forward, week1-day5 task 1",
        ],
    },
    Mistake {
        name: "tied output scaled",
        file: "src/week1/model.rs",
        right: "linear(x, &self.weight, None)",
        wrong: "linear(x, &self.weight, None) * (self.weight.shape()[1] as f32).sqrt()",
        told: &["tied_output, position 0", "Look at Embedding::as_output, week1-day5 task 1"],
    },
    Mistake {
        name: "residual from the norm",
        file: "src/week1/model.rs",
        right: "x + &self.attention.forward(&self.input_norm.forward(x), mask)",
        wrong: "self.input_norm.forward(x) + &self.attention.forward(&self.input_norm.forward(x), mask)",
        told: &[
            "layer 0, its result, position 0",
            "Look at TransformerBlock::forward, week1-day5 task 2",
        ],
    },
    Mistake {
        name: "no last norm",
        file: "src/week1/model.rs",
        right: "self.norm.forward(&x)",
        wrong: "x.clone()",
        told: &["logits, position 0", "Look at Model::forward, week1-day5 task 3"],
    },
    Mistake {
        name: "bf16 without its last bit",
        file: "src/week1/weights.rs",
        right: "u32::from(u16::from_le_bytes([b[0], b[1]]))",
        wrong: "u32::from(u16::from_le_bytes([b[0], b[1]]) & !1)",
        told: &["layer 0, attention.q_proj.weight, row 0", "to_f32, week1-day5 task 4"],
    },
    Mistake {
        name: "NaN",
        file: "src/week1/norm.rs",
        right: "row.len() as f32",
        wrong: "0.0 * row.len() as f32 * f32::NAN",
        told: &[
            "layer 0, input_norm, position 0",
            "found     NaN",
            "are NaN or infinite",
            "Look at RmsNorm::forward",
        ],
    },
    Mistake {
        name: "twice the positions of half the width",
        file: "src/week1/model.rs",
        right: "[b, l, self.weight.shape()[1]]",
        wrong: "[b, l * 2, self.weight.shape()[1] / 2]",
        told: &["embedding\n  wrong shape: found [1, ", "Look at Embedding::forward"],
    },
    Mistake {
        name: "a panic",
        file: "src/week1/mlp.rs",
        right: "(-x.abs()).exp()",
        wrong: "panic!(\"a planted panic\")",
        told: &[
            "up to layers.0.mlp.gate",
            "on the way to layers.0.mlp.silu",
            "a planted panic (src/week1/mlp.rs:",
            "Look at silu",
        ],
    },
    Mistake {
        name: "a stub",
        file: "src/week1/mlp.rs",
        right: "silu(&linear(x, &self.gate_proj, None))",
        wrong: "todo!(\"week1-day4 task 3: SwiGlu::forward\")",
        told: &[
            "up to layers.0.mlp.up",
            "this needs week1-day4 task 3: SwiGlu::forward",
            "Look at SwiGlu::forward",
        ],
    },
];

/// One build, one run without a mistake and one for each.
pub(super) fn trace(v: &mut Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let outcome = plant(v, &files).and_then(|()| runs(v));
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    outcome
}

fn plant(v: &Verification, files: &[Generated]) -> Result<()> {
    for file in files {
        let text = planted(
            &file.template.render(|_| true),
            MISTAKES.iter().filter(|mistake| mistake.file == file.path),
        )?;
        write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
    }
    Ok(())
}

/// Puts each mistake beside what it replaces.
fn planted<'a>(solution: &str, mistakes: impl Iterator<Item = &'a Mistake>) -> Result<String> {
    let mut text = solution.to_owned();
    for Mistake { name, file, right, wrong, .. } in mistakes {
        let found = solution.matches(right).count();
        ensure!(
            found == 1,
            "{name}: `{right}` stands {found} times in reference/{file}, expected once"
        );
        let choice = format!(
            "{{ if std::env::var({SWITCH:?}).is_ok_and(|name| name == {name:?}) {{ {wrong} }} else {{ {right} }} }}"
        );
        text = text.replacen(right, &choice, 1);
    }
    Ok(text)
}

fn runs(v: &Verification) -> Result<Outcome> {
    let run = |mistake: &str| {
        run_quietly(v.cargo("course trace").env(SWITCH, mistake))
            .map(|finished| (finished.status, finished.text))
    };
    let (status, text) = run("")?;
    let agree = text.lines().find(|line| line.starts_with("All ")).filter(|_| status.success());
    let agree = agree.with_context(|| {
        format!("the reference's bodies do not agree with the reference:\n{text}")
    })?;
    println!("no mistake: {agree}");
    let (mut problems, mut nearest) = (Vec::new(), f64::INFINITY);
    for mistake in &MISTAKES {
        let (status, text) = run(mistake.name)?;
        nearest = times(&text).map_or(nearest, |times| nearest.min(times));
        match missing(&text, mistake.told) {
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
        MISTAKES.len(),
        problems.join("\n")
    );
    // The tolerance leaves room on both sides.
    ensure!(
        nearest >= MARGIN,
        "a mistake is only {nearest} times the tolerance away, expected {MARGIN} at least"
    );
    Ok(Outcome::Passed(format!(
        "{} mistakes, the mildest {nearest:.0} times the tolerance",
        MISTAKES.len()
    )))
}

/// How far a mistake is from what is right, in tolerances.
fn times(text: &str) -> Option<f64> {
    text.split_once(" times the tolerance")?.0.rsplit(' ').next()?.parse().ok()
}

/// The first of the words that does not follow the ones before it.
fn missing<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let mut rest = text;
    for word in words {
        match rest.split_once(word) {
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
    fn every_mistake_has_its_place_in_the_reference() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = generated(root, &Curriculum::load(root).unwrap()).unwrap();
        for mistake in &MISTAKES {
            let file = files.iter().find(|file| file.path == mistake.file).unwrap();
            planted(&file.template.render(|_| true), std::iter::once(mistake)).unwrap();
        }
    }

    #[test]
    fn the_distance_is_read() {
        assert_eq!(
            times("  in all 2 of 3 numbers differ, by up to 0.5, 1250 times the tolerance\n"),
            Some(1250.0)
        );
        assert_eq!(times("a panic"), None);
    }

    #[test]
    fn words_are_sought_in_order() {
        assert_eq!(missing("one two three", &["one", "three"]), None);
        assert_eq!(missing("one two three", &["three", "one"]), Some("one"));
    }
}
