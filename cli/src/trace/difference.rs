//! Description of the difference between two tensors.

use std::{collections::BTreeSet, fmt::Write};

use ndarray::Dimension;

use super::list::Recorded;

/// Tolerance of a comparison, relative to the largest magnitude in the expected tensor. Both sides
/// compute in f32 but add in different orders. The rounding error of a sum of n products is at most
/// n · 2⁻²⁴ of the sum of their magnitudes, and typically √n · 2⁻²⁴: 2e-6 for n = 1,024. Errors
/// accumulate over the layers, and are enlarged when numbers nearly cancel before a norm. Measured
/// on the embedded model, all correct alternative bodies (`tests/alternate`) together deviate by
/// 1.5e-6 on 10 tokens. On 400 tokens, they deviate by 1.8e-5 (in `rope.sin`, where the rounding
/// error of an angle grows with the position). The mildest mistake that `cargo course verify`
/// plants, bf16 without its last bit, deviates by 5e-3.
const TOLERANCE: f32 = 1e-4;
use tiny_llm_formats::Tensor;

/// Why an activation differs from the expected one.
#[derive(Debug)]
pub(super) enum Difference {
    /// The activations have different names. `None` means that there are no more activations.
    List {
        found: Option<String>,
        expected: Option<String>,
    },
    Shape {
        found: Vec<usize>,
        expected: Vec<usize>,
    },
    Values(Values),
}

/// A summary of the values that are out of tolerance.
#[derive(Debug)]
pub(super) struct Values {
    shape: Vec<usize>,
    /// Index of the first value out of tolerance, in row-major order.
    first: Vec<usize>,
    found: f32,
    expected: f32,
    bound: f32,
    largest: f32,
    /// Number of values out of tolerance.
    wrong: usize,
    /// Number of values that are NaN or infinite where a finite number was expected.
    not_numbers: usize,
    /// Largest absolute difference.
    furthest: f32,
    /// For each axis, the indices at which a value is out of tolerance.
    places: Vec<BTreeSet<usize>>,
}

/// Returns the largest difference between two values, divided by the expected tensor's largest
/// magnitude. If a difference exceeds the tolerance, or the shapes differ, returns the
/// [`Difference`].
pub(super) fn difference(found: &Tensor, expected: &Recorded) -> Result<f32, Difference> {
    if found.shape() != expected.shape {
        return Err(Difference::Shape {
            found: found.shape().to_vec(),
            expected: expected.shape.clone(),
        });
    }
    let largest =
        expected.values.iter().filter(|x| x.is_finite()).fold(0.0f32, |m, x| m.max(x.abs()));
    let bound = TOLERANCE * largest;
    let mut furthest = 0.0f32;
    let mut values: Option<Values> = None;
    for ((index, &x), &y) in found.indexed_iter().zip(&expected.values) {
        let distance = (x - y).abs();
        // Equal infinities match, and so do two NaNs.
        if x == y || (x.is_nan() && y.is_nan()) {
            continue;
        }
        if distance.is_finite() {
            furthest = furthest.max(distance);
        }
        if distance <= bound {
            continue;
        }
        let values = values.get_or_insert_with(|| Values {
            shape: expected.shape.clone(),
            first: index.slice().to_vec(),
            found: x,
            expected: y,
            bound,
            largest,
            wrong: 0,
            not_numbers: 0,
            furthest: 0.0,
            places: vec![BTreeSet::new(); expected.shape.len()],
        });
        values.wrong += 1;
        values.not_numbers += usize::from(!x.is_finite() && y.is_finite());
        for (places, &i) in values.places.iter_mut().zip(index.slice()) {
            places.insert(i);
        }
    }
    match values {
        Some(values) => Err(Difference::Values(Values { furthest, ..values })),
        // If every expected value is 0, the tolerance is 0, so all values are equal here.
        None => Ok(if largest > 0.0 { furthest / largest } else { 0.0 }),
    }
}

impl Difference {
    pub(super) fn list(found: Option<&str>, expected: Option<&str>) -> Self {
        Self::List { found: found.map(str::to_owned), expected: expected.map(str::to_owned) }
    }

    /// Describes the difference in several lines. `texts` are the tokens' texts, if known.
    pub(super) fn words(&self, name: &str, texts: &[String]) -> String {
        match self {
            Self::List { found, expected } => match (found, expected) {
                (Some(found), Some(expected)) => {
                    format!("the lists of activations differ: found {found}, expected {expected}")
                }
                (Some(found), None) => {
                    format!(
                        "the lists of activations differ: found {found}, expected the end of the \
                         list"
                    )
                }
                (None, expected) => {
                    format!(
                        "the lists of activations differ: found the end of the list, expected {}",
                        expected.as_deref().unwrap_or("its end")
                    )
                }
            },
            Self::Shape { found, expected } => {
                format!("{}\n  wrong shape: found {found:?}, expected {expected:?}", place(name))
            }
            Self::Values(values) => values.words(name, texts),
        }
    }
}

impl Values {
    fn words(&self, name: &str, texts: &[String]) -> String {
        let axes = axes(name, self.shape.len());
        let mut text = place(name);
        for (axis, &i) in axes.iter().zip(&self.first).filter(|(axis, _)| **axis != BATCH) {
            let _ = write!(text, ", {axis} {i}");
            if *axis == "position"
                && let Some(token) = texts.get(i)
            {
                let _ = write!(text, " ({token:?})");
            }
        }
        let total: usize = self.shape.iter().product();
        let _ = write!(text, "\n  found     {:?}\n  expected  {:?}", self.found, self.expected);
        let _ = write!(
            text,
            "\n  tolerance {:.1e}, which is {TOLERANCE:e} of the largest magnitude, {:?}\n  in \
             all    {} of {total} numbers differ",
            self.bound, self.largest, self.wrong
        );
        if self.furthest > 0.0 {
            let _ = write!(text, ", by up to {:?}", self.furthest);
            if self.bound > 0.0 {
                let _ = write!(text, ", {:.0} times the tolerance", self.furthest / self.bound);
            }
        }
        if self.not_numbers > 0 {
            let _ = write!(
                text,
                "; {} are NaN or infinite where a number was expected",
                self.not_numbers
            );
        }
        let places =
            axes.iter().zip(&self.places).zip(&self.shape).filter(|((axis, _), _)| **axis != BATCH);
        let places: Vec<_> =
            places.map(|((axis, places), &size)| among(axis, places, size)).collect();
        let _ = write!(text, "\n  where     {}\n  shape     {:?}", places.join("; "), self.shape);
        text
    }
}

/// Formats `layers.0.attention.q_rope` as `layer 0, attention.q_rope`.
fn place(name: &str) -> String {
    let Some(inside) = name.strip_prefix("layers.") else { return name.to_owned() };
    match inside.split_once('.') {
        Some((layer, part)) => format!("layer {layer}, {part}"),
        None => format!("the result of layer {inside}"),
    }
}

/// The name of an axis that messages omit, because there is only one sequence.
const BATCH: &str = "sequence";

/// Returns the names of an activation's axes.
fn axes(name: &str, count: usize) -> Vec<&'static str> {
    let named: &[&str] = match name {
        "causal_mask" => &["query", "key"],
        "rope.cos" | "rope.sin" => &["position", "pair"],
        "logits" | "tied_output" | "lm_head" => &[BATCH, "position", "token id"],
        _ if name.ends_with("head_0.weights") => &[BATCH, "head", "position", "key"],
        _ if name.ends_with(".weight") => &["row", "column"],
        _ if count == 4 => &[BATCH, "head", "position", "dimension"],
        _ => &[BATCH, "position", "dimension"],
    };
    if named.len() == count { named.to_vec() } else { vec!["index"; count] }
}

/// Formats the indices `places` along an axis of `size` elements, for example as `every position`,
/// `positions 1–11 (of 0–11)` or `heads 1, 2 (of 0–3)`.
fn among(axis: &str, places: &BTreeSet<usize>, size: usize) -> String {
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return format!("no {axis}");
    };
    if places.len() == size {
        return if size == 1 { format!("{axis} 0, the only one") } else { format!("every {axis}") };
    }
    let all = size - 1;
    if places.len() == 1 {
        return format!("only {axis} {first} (of 0–{all})");
    }
    let several = if axis == "query" { "queries".to_owned() } else { format!("{axis}s") };
    let several = if axis == "index" { "indices".to_owned() } else { several };
    if last - first + 1 == places.len() {
        return format!("{several} {first}–{last} (of 0–{all})");
    }
    if places.len() > 8 {
        return format!("{} of {size} {several} (first: {first})", places.len());
    }
    let listed: Vec<_> = places.iter().map(usize::to_string).collect();
    format!("{several} {} (of 0–{all})", listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_llm_formats::tensor::tensor;

    fn words(name: &str, found: &Tensor, expected: &Tensor) -> String {
        difference(found, &Recorded::new(name, expected))
            .unwrap_err()
            .words(name, &["Once".to_owned(), " upon".to_owned()])
    }

    #[test]
    fn names_the_position_of_a_difference() {
        let expected = Tensor::from_shape_fn(vec![1, 2, 3, 4], |at| (at[3] + 1) as f32);
        let mut found = expected.clone();
        found[[0, 1, 1, 2]] = 3.5;
        found[[0, 1, 2, 2]] = 3.25;
        assert_eq!(
            words("layers.3.attention.q_rope", &found, &expected),
            "layer 3, attention.q_rope, head 1, position 1 (\" upon\"), dimension 2\n  found     \
             3.5\n  expected  3.0\n  tolerance 4.0e-4, which is 1e-4 of the largest magnitude, \
             4.0\n  in all    2 of 24 numbers differ, by up to 0.5, 1250 times the tolerance\n  \
             where     only head 1 (of 0–1); positions 1–2 (of 0–2); only dimension 2 (of 0–3)\n  shape     [1, 2, 3, 4]"
        );
    }

    #[test]
    fn counts_nan_and_infinity_separately() {
        let expected = tensor(&[1, 2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let text =
            words("norm", &tensor(&[1, 2, 2], vec![1.0, f32::NAN, f32::INFINITY, 4.0]), &expected);
        assert!(
            text.starts_with("norm, position 0 (\"Once\"), dimension 1\n  found     NaN\n"),
            "{text}"
        );
        assert!(
            text.contains(
                "2 of 4 numbers differ; 2 are NaN or infinite where a number was expected"
            ),
            "{text}"
        );
    }

    #[test]
    fn compares_masks_exactly() {
        let minus = f32::NEG_INFINITY;
        let mask = tensor(&[2, 2], vec![0.0, minus, 0.0, 0.0]);
        assert_eq!(difference(&mask, &Recorded::new("causal_mask", &mask)).unwrap(), 0.0);
        let text = words("causal_mask", &tensor(&[2, 2], vec![0.0, minus, minus, 0.0]), &mask);
        assert!(
            text.starts_with("causal_mask, query 1, key 0\n  found     -inf\n  expected  0.0\n"),
            "{text}"
        );
        let large = words("causal_mask", &tensor(&[2, 2], vec![0.0, -1e9, 0.0, 0.0]), &mask);
        assert!(large.contains("found     -1000000000.0\n  expected  -inf"), "{large}");
    }

    #[test]
    fn reports_a_wrong_shape() {
        let text =
            words("layers.1", &tensor(&[1, 4], vec![0.0; 4]), &tensor(&[1, 2, 2], vec![0.0; 4]));
        assert_eq!(text, "the result of layer 1\n  wrong shape: found [1, 4], expected [1, 2, 2]");
    }

    #[test]
    fn among_summarizes_indices() {
        let of = |places: &[usize], size| among("head", &places.iter().copied().collect(), size);
        assert_eq!(of(&[0, 1, 2], 3), "every head");
        assert_eq!(of(&[0], 1), "head 0, the only one");
        assert_eq!(of(&[1, 2], 3), "heads 1–2 (of 0–2)");
        assert_eq!(of(&[0, 2], 4), "heads 0, 2 (of 0–3)");
        assert_eq!(of(&(0..40).step_by(2).collect::<Vec<_>>(), 40), "20 of 40 heads (first: 0)");
    }
}
