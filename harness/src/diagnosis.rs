//! Explains a wrong answer in the learner's terms.
//!
//! First, the answer is compared with the answers that the wrong solutions in `tests/wrong` give
//! for the same input. `cargo course matrix` has recorded these answers in
//! `tests/fixtures/wrong/DAY.safetensors`, so no wrong code is linked. If no answer matches, some
//! general patterns are tried. If none fits, there is no diagnosis, because a wrong one is worse
//! than none.

use std::{fmt::Write as _, io::Write as _, ops::Range, path::PathBuf};

use ndarray::{Axis, Zip};
use serde_json::{Value, json};

use crate::{stored::Stored, tolerance::Tolerance};
use tiny_llm_formats::Tensor;

/// The cause of a NaN on some input.
#[derive(Clone)]
pub(crate) struct Nan<'a> {
    pub(crate) comes_of: &'a str,
    /// The elements that are NaN because of this cause, as a range in row-major order. `None` if
    /// the NaNs' positions don't distinguish this cause from others.
    pub(crate) place: Option<Range<usize>>,
}

impl Nan<'_> {
    fn is_it(&self, found: &Tensor) -> bool {
        self.place.as_ref().is_none_or(|place| {
            found.iter().enumerate().all(|(i, x)| x.is_nan() == place.contains(&i))
        })
    }
}

/// Returns the diagnosis of a wrong answer, to print under the mismatch, or an empty text.
///
/// `what` identifies the check and its input. `nan` is the cause of a NaN on this input, if known.
pub(crate) fn of_tensor(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
    nan: Option<Nan<'_>>,
) -> String {
    known_or(what, found, expected, tolerance, |found, expected, tolerance| {
        by_shape(found, expected, tolerance, nan.clone())
    })
}

/// Like [`of_tensor`], for the bytes of a file. Recognises only known mistakes, because the bytes
/// of different fields have different meanings.
pub(crate) fn of_bytes(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
) -> String {
    known_or(what, found, expected, tolerance, |_, _, _| None)
}

fn known_or(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
    otherwise: impl Fn(&Tensor, &Tensor, Tolerance) -> Option<String>,
) -> String {
    record(what, || {
        json!({
            "shape": found.shape(),
            "bits": found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            "relative": matches!(tolerance, Tolerance::Relative(_)),
            "tolerance": tolerance.bound(),
            "distance": distance(found, expected, tolerance),
            "thin": is_thin(found, expected, tolerance),
        })
    });
    let known: Vec<String> = Known::of_this_day()
        .iter()
        .flat_map(|known| known.tensor(what, found, tolerance))
        .collect();
    match known.as_slice() {
        [one] => one.clone(),
        [] => otherwise(found, expected, tolerance).map(|text| line(&text)).unwrap_or_default(),
        // Several diagnoses match. `cargo course verify` ensures that this can't happen with an
        // answer of `tests/wrong`.
        _ => String::new(),
    }
}

/// Like [`of_tensor`], for a written answer, such as a text or a list of tokens. Recognises only
/// known mistakes.
pub(crate) fn of_text(what: &str, found: &str) -> String {
    if found == "an error" || found == "None" {
        // Many mistakes lead to this answer, so it doesn't reveal the cause.
        return String::new();
    }
    record(what, || json!({ "text": found }));
    let known = Known::of_this_day();
    let known: Vec<String> = known.iter().flat_map(|known| known.text(what, found)).collect();
    if let [one] = known.as_slice() { one.clone() } else { String::new() }
}

fn line(text: &str) -> String {
    format!("\n  diagnosis {text}")
}

/// Returns whether `found` is close enough to `known`, a number of a known answer. They may differ
/// by the check's tolerance, or by a rounding error: 1e-5 of `largest`, the largest magnitude in
/// that answer, or 1e-5 of `known` if the tolerance is relative.
#[must_use]
fn same(found: f32, known: f32, tolerance: Tolerance, largest: f32) -> bool {
    let largest = match tolerance {
        Tolerance::Absolute(_) => largest,
        Tolerance::Relative(_) => known.abs(),
    };
    // An infinite value must match exactly.
    tolerance.allows(found, known) || (known.is_finite() && (found - known).abs() <= 1e-5 * largest)
}

fn largest(x: &Tensor) -> f32 {
    x.iter().filter(|v| v.is_finite()).fold(0.0, |m, v| m.max(v.abs()))
}

/// The recorded wrong answers of a day, from one file.
struct Known {
    file: Stored,
}

impl Known {
    /// Loads the wrong answers of the day whose tests are running: those recorded for every kind of
    /// CPU, and those for this kind. The result is empty if none have been recorded.
    fn of_this_day() -> Vec<Self> {
        let Some(day) = this_day() else { return Vec::new() };
        let names = [format!("wrong/{day}"), format!("wrong/{day}_{}", std::env::consts::ARCH)];
        let files = names.iter().filter_map(|name| Stored::open_if_there(name));
        files.map(|file| Self { file }).collect()
    }

    /// Returns the wrong answers recorded for the check `what`.
    fn answers(&self, what: &str) -> Vec<Value> {
        self.file
            .about(what)
            .and_then(|about| about["answers"].as_array().cloned())
            .unwrap_or_default()
    }

    fn tensor(&self, what: &str, found: &Tensor, tolerance: Tolerance) -> Vec<String> {
        let is_same = |answer: &Value| {
            let known = answer["tensor"].as_str().and_then(|name| self.file.f32s(name));
            known.is_some_and(|known| {
                let largest = largest(&known);
                known.shape() == found.shape()
                    && Zip::from(found).and(&known).all(|&x, &y| same(x, y, tolerance, largest))
            })
        };
        says(self.answers(what).iter().filter(|answer| is_same(answer)))
    }

    fn text(&self, what: &str, found: &str) -> Vec<String> {
        says(self.answers(what).iter().filter(|answer| answer["text"].as_str() == Some(found)))
    }
}

/// Returns the day whose tests are running. If one program has the tests of several days, it is in
/// the environment, otherwise in the program's name.
fn this_day() -> Option<String> {
    if let Ok(day) = std::env::var("COURSE_DAY") {
        return Some(day);
    }
    // target/debug/deps/week1_day3-0f1e2d3c4b5a6978
    let program = std::env::current_exe().ok()?;
    let (day, _) = program.file_stem()?.to_str()?.rsplit_once('-')?;
    Some(day.to_owned())
}

/// Returns the recorded messages of these wrong answers, without duplicates.
fn says<'a>(answers: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut texts: Vec<String> = answers
        .filter_map(|answer| {
            Some(format!(
                "{}\n  read      {}",
                line(answer["says"].as_str()?),
                answer["read"].as_str()?
            ))
        })
        .collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Returns whether so few elements of a large answer are wrong that different mistakes could give
/// the same answer.
fn is_thin(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> bool {
    found.shape() == expected.shape()
        && found.len() >= 12
        && found.iter().zip(expected).filter(|&(&x, &y)| !tolerance.allows(x, y)).count() < 3
}

/// Returns the largest error as a multiple of the tolerance. Returns `None` if the shapes differ,
/// or if the multiple is infinite: for a NaN, an infinity, or any error if the tolerance is 0.
fn distance(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<f64> {
    if found.shape() != expected.shape() {
        return None;
    }
    let of = |x: f32, y: f32| match tolerance {
        _ if tolerance.allows(x, y) => 0.0,
        _ if !(x - y).is_finite() => f64::INFINITY,
        Tolerance::Absolute(bound) => f64::from((x - y).abs()) / f64::from(bound),
        Tolerance::Relative(bound) => {
            f64::from((x - y).abs() / x.abs().max(y.abs())) / f64::from(bound)
        }
    };
    let worst = found.iter().zip(expected).map(|(&x, &y)| of(x, y)).max_by(f64::total_cmp)?;
    // JSON has no infinity, so `null` represents it.
    worst.is_finite().then_some(worst)
}

/// Appends an answer to the file that the environment variable `COURSE_RECORD` names, if it is set.
/// `cargo course matrix` records the answers of `tests/wrong` this way.
fn record(what: &str, answer: impl FnOnce() -> Value) {
    let Some(path) = std::env::var_os("COURSE_RECORD") else { return };
    let mut line = answer();
    line["what"] = what.into();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    // One write, so that lines of concurrent tests don't mix.
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written
        .unwrap_or_else(|error| panic!("COURSE_RECORD={}: {error}", PathBuf::from(path).display()));
}

/// Diagnoses general mistakes, which need no entry in `tests/wrong`.
fn by_shape(
    found: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
    nan: Option<Nan<'_>>,
) -> Option<String> {
    if found.shape() != expected.shape() {
        return wrong_shape(found, expected, tolerance);
    }
    if close(found, expected, tolerance) {
        // The answer is too close to the expected one: a factor near 1 or a shift near 0 would also
        // fit.
        return None;
    }
    not_finite(found, expected, nan)
        .or_else(|| all_zero(found, expected))
        .or_else(|| transposed(found, expected, tolerance))
        .or_else(|| scaled(found, expected, tolerance))
        .or_else(|| shifted(found, expected, tolerance))
        .or_else(|| elsewhere(found, expected, tolerance))
}

fn close(x: &Tensor, y: &Tensor, tolerance: Tolerance) -> bool {
    let largest = largest(y);
    x.shape() == y.shape() && Zip::from(x).and(y).all(|&x, &y| same(x, y, tolerance, largest))
}

/// Returns whether a tensor has at least three distinct numbers, so that a new order can be seen.
fn varied(x: &Tensor) -> bool {
    let mut bits: Vec<u32> = x.iter().map(|v| v.to_bits()).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len() >= 3
}

fn distinct(x: &Tensor) -> bool {
    let mut values: Vec<f32> = x.iter().copied().collect();
    values.sort_by(f32::total_cmp);
    values.windows(2).all(|pair| pair[0] != pair[1])
}

fn wrong_shape(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    if let Some((a, b)) = swapped_axes(found, expected, tolerance) {
        return Some(format!("The numbers are right, but axes {a} and {b} are swapped."));
    }
    if found.len() == expected.len() && varied(expected) {
        let same_order =
            found.iter().zip(expected).all(|(&x, &y)| same(x, y, tolerance, largest(expected)));
        return same_order.then(|| {
            "The numbers and their order are right, but the shape is wrong: reshape at the end."
                .to_owned()
        });
    }
    None
}

/// Describes where NaNs or infinities are. Their values do not reveal the cause, but their
/// positions show where to look.
fn not_finite(found: &Tensor, expected: &Tensor, nan: Option<Nan<'_>>) -> Option<String> {
    let n = found.len();
    let places = |wrong: &dyn Fn(f32, f32) -> bool| {
        let wrong: Vec<bool> = found.iter().zip(expected).map(|(&x, &y)| wrong(x, y)).collect();
        let count = wrong.iter().filter(|wrong| **wrong).count();
        (count > 0).then(|| (count, whole_rows(&wrong, found.shape())))
    };
    if let Some((count, rows)) = places(&|x, y| x.is_nan() && !y.is_nan()) {
        let lead = match nan {
            Some(nan) if nan.is_it(found) => format!(": {}", nan.comes_of),
            _ if count == n => ". One early NaN can cause all of them: find the first NaN.".into(),
            _ => format!("{rows}."),
        };
        return Some(format!("{count} of {n} elements are NaN{lead}"));
    }
    if let Some((count, rows)) = places(&|x, y| x.is_infinite() && y.is_finite()) {
        return Some(format!(
            "{count} of {n} elements are infinite where a finite number belongs{rows}."
        ));
    }
    let (count, rows) = places(&|x, y| x.is_finite() && y.is_infinite())?;
    Some(format!("{count} of {n} elements are finite where an infinite one belongs{rows}."))
}

/// Returns a note if some but not all rows (along the last axis) are entirely wrong, and the others
/// entirely right. Returns an empty text otherwise, or if a row has only one element.
fn whole_rows(wrong: &[bool], shape: &[usize]) -> String {
    let width = shape.last().copied().unwrap_or(1).max(1);
    let rows: Vec<usize> =
        wrong.chunks(width).map(|row| row.iter().filter(|w| **w).count()).collect();
    let hit = rows.iter().filter(|&&count| count > 0).count();
    if width == 1 || rows.len() == 1 || rows.iter().any(|&count| count > 0 && count < width) {
        return String::new();
    }
    if hit == rows.len() {
        return String::new();
    }
    let first = rows.iter().position(|&count| count > 0).unwrap_or_default();
    let mut index = vec![0; shape.len() - 1];
    let mut rest = first;
    for (place, length) in index.iter_mut().zip(&shape[..shape.len() - 1]).rev() {
        (*place, rest) = (rest % length, rest / length);
    }
    format!(
        ". They fill {hit} of {} rows. The first such row is {index:?}: look at how these rows \
         differ from the others",
        rows.len()
    )
}

fn all_zero(found: &Tensor, expected: &Tensor) -> Option<String> {
    let zero = |x: &Tensor| x.iter().all(|&v| v == 0.0);
    (zero(found) && !zero(expected)).then(|| {
        "Every element is 0. Look for a missing write, a factor of 0, a clamp to 0, an empty sum, \
         or values so small that rounding made them 0."
            .to_owned()
    })
}

/// Returns two axes whose swap turns `expected` into `found`, if there are any.
fn swapped_axes(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<(usize, usize)> {
    if found.ndim() != expected.ndim() || !varied(expected) {
        return None;
    }
    let pairs = (0..found.ndim()).flat_map(|a| (a + 1..found.ndim()).map(move |b| (a, b)));
    let mut proper =
        pairs.filter(|&(a, b)| expected.len_of(Axis(a)) > 1 && expected.len_of(Axis(b)) > 1);
    proper.find(|&(a, b)| {
        let mut swapped = expected.view();
        swapped.swap_axes(a, b);
        close(found, &swapped.to_owned(), tolerance)
    })
}

fn transposed(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    swapped_axes(found, expected, tolerance)
        .map(|(a, b)| format!("This is the expected answer with axes {a} and {b} swapped."))
}

fn scaled(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    let finite = found.iter().chain(expected).all(|v| v.is_finite());
    if !finite || !varied(expected) {
        return None;
    }
    let (at, &y) = expected.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let factor = found.iter().nth(at)? / y;
    if !(1e-6..=1e6).contains(&factor.abs()) {
        // The largest element has vanished or exploded. A wrong factor would not explain that.
        return None;
    }
    if (factor - 1.0).abs() < 2e-4 {
        // The factor is so close to 1 that the slack below would mistake other deviations for a
        // factor.
        return None;
    }
    // Small numbers must match as closely as large ones.
    let tolerance = match tolerance {
        Tolerance::Absolute(bound) => Tolerance::Absolute(bound * factor.abs().min(1.0)),
        relative @ Tolerance::Relative(_) => relative,
    };
    close(found, &(expected * factor), tolerance).then(|| {
        let factor_text = match factor.abs() {
            small if small < 0.01 => format!("{factor:.3e}"),
            near_one if (near_one - 1.0).abs() < 0.01 && factor > 0.0 => format!("{factor:.6}"),
            _ => format!("{factor:.4}"),
        };
        let mut text = format!("Every element is {factor_text} times the expected one");
        if factor < 0.0 {
            text += ": the sign is wrong";
        }
        let inverse = 1.0 / factor;
        if (2.0..=1000.0).contains(&inverse) {
            let whole = inverse.round();
            let near = (inverse - whole).abs() < 1e-3 * inverse;
            let _ = if near {
                write!(text, " (a factor of 1/{whole})")
            } else {
                write!(text, " (a factor of 1/{inverse:.4})")
            };
        }
        text + "."
    })
}

fn shifted(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    let by = found.first()? - expected.first()?;
    (by.is_finite() && varied(expected) && close(found, &(expected + by), tolerance))
        .then(|| format!("Every element is the expected one plus {by:.4}."))
}

/// Diagnoses answers with the right numbers in the wrong order.
fn elsewhere(found: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    // Many whole numbers are equal, so a few can be swapped by chance.
    if !varied(expected) || expected.iter().all(|y| y.fract() == 0.0) && !distinct(expected) {
        return None;
    }
    let sorted = |x: &[f32]| {
        let mut x = x.to_vec();
        x.sort_by(f32::total_cmp);
        x
    };
    let largest = largest(expected);
    let same_set = |x: &[f32], y: &[f32]| {
        sorted(x).into_iter().zip(sorted(y)).all(|(x, y)| same(x, y, tolerance, largest))
    };
    let (x, y) = (found.as_standard_layout(), expected.as_standard_layout());
    let (x, y) = (x.as_slice()?, y.as_slice()?);
    if !same_set(x, y) {
        return None;
    }
    let width = *expected.shape().last()?;
    let by_row = width > 1 && x.chunks(width).zip(y.chunks(width)).all(|(x, y)| same_set(x, y));
    Some(if by_row {
        "Each row holds the right numbers in the wrong order.".to_owned()
    } else {
        "These are the right numbers in the wrong places: check the reshapes and the order of axes."
            .to_owned()
    })
}
