//! Assertions whose messages explain a failure: which element, both values, both shapes, the
//! tolerance.

use std::fmt;

pub use crate::tolerance::Tolerance;
use crate::{
    diagnosis::{self, Nan},
    difference,
    panics::{self, Panic},
};
use tiny_llm_formats::Tensor;

/// The most wrong element of a tensor, compared with an expected tensor of the same shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Index of the worst element, one number per axis.
    pub index: Vec<usize>,
    /// The value found there.
    pub found: f32,
    /// The value expected there.
    pub expected: f32,
    /// Number of elements out of tolerance.
    pub wrong: usize,
}

/// Returns the most wrong element that is out of tolerance, if any. An element whose difference is
/// NaN or infinite ranks first, then the one with the largest difference. If the tolerance is
/// relative, each difference is divided by the magnitude of the expected number, or by the mean
/// magnitude of all finite expected numbers if that is larger. So a wrong sign of a number near 0
/// ranks below an error in a number of typical magnitude.
///
/// # Panics
/// If the shapes differ.
#[must_use]
pub fn worst_mismatch(
    found: &Tensor,
    expected: &Tensor,
    tolerance: impl Into<Tolerance>,
) -> Option<Mismatch> {
    assert_eq!(found.shape(), expected.shape(), "compare shapes first");
    let tolerance = tolerance.into();
    let finite = || expected.iter().filter(|y| y.is_finite()).map(|y| f64::from(y.abs()));
    let usual = (finite().sum::<f64>() / finite().count().max(1) as f64) as f32;
    let mut worst: Option<(f32, Mismatch)> = None;
    let mut wrong = 0;
    for ((index, &x), &y) in found.indexed_iter().zip(expected) {
        if tolerance.allows(x, y) {
            continue;
        }
        wrong += 1;
        let distance = match tolerance {
            _ if !(x - y).is_finite() => f32::INFINITY,
            Tolerance::Absolute(_) => (x - y).abs(),
            Tolerance::Relative(_) => (x - y).abs() / y.abs().max(usual),
        };
        if worst.as_ref().is_none_or(|(d, _)| distance > *d) {
            let index = ndarray::Dimension::slice(&index).to_vec();
            worst = Some((distance, Mismatch { index, found: x, expected: y, wrong: 0 }));
        }
    }
    worst.map(|(_, m)| Mismatch { wrong, ..m })
}

/// Asserts that both tensors have the same shape and every element is within tolerance.
///
/// # Panics
/// If the shapes differ or an element is out of tolerance. The message shows both shapes, the worst
/// index, both values and the tolerance.
#[track_caller]
pub fn assert_close(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: impl Into<Tolerance>,
) {
    assert_close_noting(what, found, expected, tolerance, "");
}

/// Like [`assert_close`], but the message also contains the text `more`, before the diagnosis. Each
/// line of `more` must begin with a line feed.
///
/// # Panics
/// If the tensors differ, as in [`assert_close`].
#[track_caller]
pub fn assert_close_noting(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: impl Into<Tolerance>,
    more: &str,
) {
    assert_close_led(what, found, expected, tolerance.into(), more, None);
}

/// Like [`assert_close_noting`]. `nan` is the cause of a NaN on this input, if known.
#[track_caller]
pub(crate) fn assert_close_led(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
    more: &str,
    nan: Option<Nan<'_>>,
) {
    if let Err(message) = compare(what, found, expected, tolerance) {
        panic!("{message}{more}{}", diagnosis::of_tensor(what, found, expected, tolerance, nan));
    }
}

/// Like [`assert_close`], but without a diagnosis. The message ends with `why`, which explains the
/// expected result.
///
/// # Panics
/// If the tensors differ, as in [`assert_close`].
#[track_caller]
pub fn assert_close_because(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: impl Into<Tolerance>,
    why: &str,
) {
    if let Err(message) = compare(what, found, expected, tolerance) {
        panic!("{message}\n  {why}");
    }
}

/// Asserts that two results of the learner's own code agree. Unlike [`assert_close`], gives no
/// diagnosis, because both results may be wrong. `property` explains why they must agree.
///
/// # Panics
/// If they don't agree. The message shows the worst element of both and the property.
#[track_caller]
pub fn assert_agrees(
    what: &str,
    found: &Tensor,
    other: &Tensor,
    tolerance: impl Into<Tolerance>,
    property: &str,
) {
    if let Err(message) = compare(what, found, other, tolerance) {
        panic!("{message}\n  both results come from your code: {property}");
    }
}

/// Asserts that `found`, a text or a list, equals `expected`. If it doesn't, looks for a known
/// mistake with the same answer. Use this only for answers so long that different mistakes give
/// different answers.
///
/// # Panics
/// If they differ. The message shows both answers or, for long lists, their differences.
#[track_caller]
pub fn assert_answer<T: PartialEq + fmt::Debug>(what: &str, found: &T, expected: &T) {
    if found != expected {
        let text = format!("{found:?}");
        let expected = format!("{expected:?}");
        let difference = difference::of_lines(&text, &expected)
            .or_else(|| difference::of_lists(&text, &expected))
            .unwrap_or_else(|| format!("\n  found    {text}\n  expected {expected}"));
        panic!("{what}{difference}{}", diagnosis::of_text(what, &text));
    }
}

/// One line for each input and its result. A test compares and prints all lines together where only
/// several inputs together identify a mistake.
#[derive(PartialEq)]
pub struct Lines(pub Vec<String>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Like [`assert_answer`], for a text of several lines. Prints `found` and `expected` side by side.
///
/// # Panics
/// If they differ.
#[track_caller]
pub fn assert_picture(what: &str, found: &str, expected: &str) {
    if found != expected {
        let width = found
            .lines()
            .map(|line| line.chars().count())
            .chain(["found".len()])
            .max()
            .unwrap_or_default();
        let (mut left, mut right) = (found.lines(), expected.lines());
        let mut text = format!("{what}\n  {:width$}  expected", "found");
        for _ in 0..found.lines().count().max(expected.lines().count()) {
            let (left, right) = (left.next().unwrap_or_default(), right.next().unwrap_or_default());
            text += format!("\n  {left:width$}  {right}").trim_end();
        }
        panic!("{text}{}", diagnosis::of_text(what, found));
    }
}

/// Compares two tensors like [`assert_close`], but returns the message, without a diagnosis.
///
/// # Errors
/// If the tensors differ. The error is the message, several lines of plain text.
pub fn compare(
    what: &str,
    found: &Tensor,
    expected: &Tensor,
    tolerance: impl Into<Tolerance>,
) -> Result<(), String> {
    let tolerance = tolerance.into();
    if found.shape() != expected.shape() {
        return Err(format!(
            "{what}: wrong shape\n  found    {:?}\n  expected {:?}",
            found.shape(),
            expected.shape()
        ));
    }
    let Some(m) = worst_mismatch(found, expected, tolerance) else { return Ok(()) };
    let mut message = format!(
        "{what}: {} of {} elements differ\n  worst at {:?}: found {:?}, expected {:?} \
         ({tolerance})\n  shape    {:?}",
        m.wrong,
        found.len(),
        m.index,
        m.found,
        m.expected,
        found.shape(),
    );
    if let (Some(found), Some(expected)) = (row_of(found, &m.index), row_of(expected, &m.index)) {
        let whole = found.iter().chain(&expected).all(|x| x.fract() == 0.0 && x.abs() < 1e5);
        let [found, expected] = [found, expected].map(|row| readable(&row, whole));
        message += &format!("\n  its row\n    found    {found}\n    expected {expected}");
    }
    if let Some(places) = difference::places(found, expected, tolerance) {
        message += &format!("\n  {places}");
    }
    Err(message)
}

/// Returns the row (along the last axis) of the element at `index`. Returns `None` if the row has
/// only this element or is too long to read.
fn row_of(x: &Tensor, index: &[usize]) -> Option<Vec<f32>> {
    let (_, lead) = index.split_last()?;
    let mut row = x.view();
    for &i in lead {
        row.index_axis_inplace(ndarray::Axis(0), i);
    }
    (2..=difference::READABLE).contains(&row.len()).then(|| row.iter().copied().collect())
}

/// Formats a row of numbers. `whole` says that all of them are whole, so decimals are omitted.
fn readable(row: &[f32], whole: bool) -> String {
    let one = |&v: &f32| match v {
        _ if whole => format!("{}", v as i32),
        _ if v == 0.0 || (1e-3..1e5).contains(&v.abs()) => format!("{v:.5}"),
        _ => format!("{v:.5e}"),
    };
    format!("[{}]", row.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Asserts that `action` panics. `arguments` describes its arguments, for which a panic is
/// documented. The panic of a `todo!` does not count and is propagated.
///
/// # Panics
/// If `action` returns.
#[track_caller]
pub fn assert_panics<T>(arguments: &str, action: impl FnOnce() -> T) {
    match panics::catch(action) {
        Ok(_) => panic!("{arguments}: this must panic, but a value was returned"),
        Err(panic) if panic.is_todo() => panic.go_on(),
        Err(_) => {}
    }
}

/// Runs `action`, which must not panic, and returns its result. If it panics, the message contains
/// `arguments`, a description of its arguments. The panic of a `todo!` is propagated unchanged.
///
/// # Panics
/// If `action` panics.
#[track_caller]
pub fn assert_accepts<T>(arguments: &str, action: impl FnOnce() -> T) -> T {
    assert_returns(arguments, action, |_| None)
}

/// Like [`assert_accepts`], but `explain` can add a [`PanicReport`] to the message of a panic.
///
/// # Panics
/// If `action` panics.
#[track_caller]
pub fn assert_returns<T>(
    arguments: &str,
    action: impl FnOnce() -> T,
    explain: impl FnOnce(&Panic) -> Option<PanicReport>,
) -> T {
    let panic = match panics::catch(action) {
        Ok(value) => return value,
        Err(panic) if panic.is_todo() => panic.go_on(),
        Err(panic) => panic,
    };
    let report = explain(&panic).unwrap_or_default();
    let meaning = report.diagnosis.or_else(|| panics::meaning(panic.message()));
    panic!(
        "{arguments}: {} panicked at {}: {}{}",
        report.lead,
        panic.place,
        panic.message(),
        meaning.map(|meaning| format!("\n  diagnosis {meaning}")).unwrap_or_default()
    )
}

/// How to report an unexpected panic.
pub struct PanicReport {
    /// The text before "panicked at".
    pub lead: &'static str,
    /// The cause, if the test knows it. If `None`, the harness explains only panics of Rust's
    /// arithmetic.
    pub diagnosis: Option<&'static str>,
}

impl Default for PanicReport {
    fn default() -> Self {
        Self { lead: "this input is allowed, but your function", diagnosis: None }
    }
}

/// Runs `action`, which must return an error, and returns its result without checking it. If
/// `action` panics, the message says that an error was expected. (In that case, [`assert_accepts`]
/// would say that the arguments are allowed.)
///
/// # Panics
/// If `action` panics.
#[track_caller]
pub fn assert_refuses<T>(arguments: &str, action: impl FnOnce() -> T) -> T {
    let lead = "this must be refused with an error, but your function";
    assert_returns(arguments, action, |_| Some(PanicReport { lead, diagnosis: None }))
}

/// Another task that a test depends on.
pub struct Part {
    /// The task's name in messages: `week1-day1 task 1`.
    pub task: &'static str,
    /// Name of the function, such as `softmax`.
    pub what: &'static str,
    /// A check that panics if the function is wrong.
    pub check: fn(),
}

/// Runs a test of code that uses functions of other tasks. If the test fails, checks `parts` in
/// order and reports the first wrong one. The test's own message would be misleading while a part
/// is wrong.
///
/// # Panics
/// If `test` panics.
#[track_caller]
pub fn resting_on<T>(parts: &[&Part], test: impl FnOnce() -> T) -> T {
    let panic = match panics::catch(test) {
        Ok(value) => return value,
        Err(panic) => panic,
    };
    if panic.is_todo() {
        panic.go_on();
    }
    let is_red = |part: &&&Part| panics::catch(part.check).is_err_and(|panic| !panic.is_todo());
    let Some(part) = parts.iter().find(is_red) else { panic.go_on() };
    let (day, number) = part.task.split_once(" task ").unwrap_or((part.task, ""));
    panic!(
        "{} ({}) is red, and this test depends on it: make its tests green first\n  cargo course \
         test {day} {number}",
        part.task, part.what
    )
}

/// Asserts that `function` returns the same result for `x` and for a copy of `x` in another memory
/// layout, as after a swap of axes.
///
/// # Panics
/// If the results differ, or if `function` panics.
#[track_caller]
pub fn assert_any_layout(
    what: &str,
    x: &Tensor,
    tolerance: impl Into<Tolerance>,
    function: impl Fn(&Tensor) -> Tensor,
) {
    let other = in_another_layout(x);
    let what = format!(
        "{what} of {:?} stored column by column in memory, as after a swap of axes",
        x.shape()
    );
    let found = assert_accepts(&what, || function(&other));
    let property = "both inputs have the same elements at the same indices, so the results must be \
                    equal: iterate along axes (`lanes_mut`, `rows`, an index), not in memory order";
    assert_agrees(
        &format!("{what}, compared with the same elements stored row by row"),
        &found,
        &function(x),
        tolerance,
        property,
    );
}

/// Returns a copy of `x` with the same elements at the same indices, stored in column-major order.
#[must_use]
pub fn in_another_layout(x: &Tensor) -> Tensor {
    x.view().reversed_axes().as_standard_layout().into_owned().reversed_axes()
}
