//! Checks arguments against their documented shapes: `q [..., L, D]`, `k [..., S, D]`. An argument
//! that does not fit raises a `ValueError`. Its message names the argument, what was found (a
//! shape, or the first wrong number with its index) and what was expected.

use std::fmt::Display;

use ndarray::Dimension;
use pyo3::{exceptions::PyValueError, prelude::*};
use tiny_llm_formats::{Tensor, tensor::broadcast_shape};

use crate::convert::Floats;

/// Returns a `ValueError` that names an argument, what was found and what was expected.
pub(crate) fn wrong(argument: &str, found: impl Display, expected: impl Display) -> PyErr {
    PyValueError::new_err(format!("{argument}: found {found}, expected {expected}"))
}

/// `refuse_if!(bad; argument, found; expected)` returns the error of [`wrong`] if `bad` is true.
/// `expected` is a format string with its arguments.
macro_rules! refuse_if {
    ($bad:expr; $argument:expr, $found:expr; $($expected:tt)+) => {
        if $bad {
            return Err($crate::shapes::wrong($argument, $found, format_args!($($expected)+)));
        }
    };
}
pub(crate) use refuse_if;

/// Checks arguments with [`Shapes::fit`], and returns the sizes of the letters:
/// `fit!(q = "... L D")`. `fit!(shapes, k = "... S D")` adds to `shapes`. In
/// `fit!("weight": E = 8; x = "... E")`, the argument `weight` determines the size of `E`.
macro_rules! fit {
    ($owner:literal: $($letter:ident = $size:expr),+; $($x:ident = $letters:literal),+) => {{
        let mut shapes = $crate::shapes::Shapes::default();
        $(shapes.set(stringify!($letter), $size, $owner);)+
        $crate::shapes::fit!(shapes, $($x = $letters),+);
        shapes
    }};
    ($($x:ident = $letters:literal),+) => {{
        let mut shapes = $crate::shapes::Shapes::default();
        $crate::shapes::fit!(shapes, $($x = $letters),+);
        shapes
    }};
    ($shapes:ident, $($x:ident = $letters:literal),+) => {
        $($shapes.fit(stringify!($x), $letters, &$x)?;)+
    };
}
pub(crate) use fit;

/// An argument with a shape, or an optional argument that may be missing.
pub(crate) trait Shaped {
    fn axes(&self) -> Option<&[usize]>;
}

impl Shaped for Floats {
    fn axes(&self) -> Option<&[usize]> {
        Some(self.0.shape())
    }
}

impl<T: Shaped> Shaped for Option<T> {
    fn axes(&self) -> Option<&[usize]> {
        self.as_ref()?.axes()
    }
}

impl<T: Shaped> Shaped for &T {
    fn axes(&self) -> Option<&[usize]> {
        (*self).axes()
    }
}

/// The sizes of the letters, such as `L` and `D`, in the shapes of one call's arguments. The first
/// argument with a letter determines its size, and later arguments must agree.
#[derive(Default)]
pub(crate) struct Shapes {
    sizes: Vec<Size>,
    /// The leading axes, `...`, and the first argument that has them.
    lead: Option<(Vec<usize>, &'static str)>,
}

struct Size {
    letter: &'static str,
    size: usize,
    argument: &'static str,
}

impl Shapes {
    /// Sets the size of a letter, which `argument` determines.
    pub(crate) fn set(&mut self, letter: &'static str, size: usize, argument: &'static str) {
        self.sizes.push(Size { letter, size, argument });
    }

    /// Returns the size of a letter. Panics if no argument has had this letter.
    pub(crate) fn size(&self, letter: &str) -> usize {
        self.known(letter).expect("an argument before has this letter").size
    }

    fn known(&self, letter: &str) -> Option<&Size> {
        self.sizes.iter().find(|size| size.letter == letter)
    }

    /// Returns a shape: the leading axes, followed by the sizes of `letters`.
    pub(crate) fn shape(&self, letters: &[&str]) -> Vec<usize> {
        let lead = self.lead.iter().flat_map(|(lead, _)| lead.iter().copied());
        lead.chain(letters.iter().map(|letter| self.size(letter))).collect()
    }

    /// Checks that the shape of `x` fits `letters`, such as `"... L D"`. Accepts a missing
    /// argument. Leading axes broadcast as in NumPy. No other axis may have length 0.
    pub(crate) fn fit(
        &mut self,
        argument: &'static str,
        letters: &'static str,
        x: &impl Shaped,
    ) -> PyResult<()> {
        x.axes().map_or(Ok(()), |axes| self.fit_shape(argument, letters, axes))
    }

    /// Works like [`Shapes::fit`], for a `shape` that is not an array's.
    pub(crate) fn fit_shape(
        &mut self,
        argument: &'static str,
        letters: &'static str,
        shape: &[usize],
    ) -> PyResult<()> {
        let (leading, rest) = match letters.strip_prefix("...") {
            Some(rest) => (true, rest),
            None => (false, letters),
        };
        let axes: Vec<&'static str> = rest.split_whitespace().collect();
        let documented = format!("[{}]", letters.split_whitespace().collect::<Vec<_>>().join(", "));
        let found = format!("shape {shape:?}");
        let Some(lead) = shape.len().checked_sub(axes.len()).filter(|&n| leading || n == 0) else {
            return Err(wrong(argument, found, documented));
        };
        let (lead, sizes) = shape.split_at(lead);
        for (&letter, &size) in axes.iter().zip(sizes) {
            if size == 0 {
                let expected = format!("{documented} with {letter} of at least 1");
                return Err(wrong(argument, found, expected));
            }
            match self.known(letter) {
                None => self.set(letter, size, argument),
                Some(known) if known.size == size => {}
                Some(Size { size, argument: other, .. }) => {
                    let expected = format!("{documented} with {letter} = {size}, as in {other}");
                    return Err(wrong(argument, found, expected));
                }
            }
        }
        if !leading {
            return Ok(());
        }
        self.lead = Some(match self.lead.take() {
            None => (lead.to_vec(), argument),
            Some((before, other)) => {
                let Some(both) = broadcast_shape(&before, lead) else {
                    let expected = format!(
                        "{documented} with leading axes that broadcast with {before:?} of {other}"
                    );
                    return Err(wrong(argument, found, expected));
                };
                (both, other)
            }
        });
        Ok(())
    }

    /// Checks that `mask` broadcasts to the scores, whose shape is `...` followed by `letters`.
    pub(crate) fn fit_mask(&self, mask: Option<&Floats>, letters: &[&str]) -> PyResult<()> {
        let Some(Floats(mask)) = mask else { return Ok(()) };
        let scores = self.shape(letters);
        if broadcast_shape(mask.shape(), &scores).is_some_and(|both| both == scores) {
            return Ok(());
        }
        let lead = if self.lead.is_some() { "..., " } else { "" };
        let expected = format!("one that broadcasts to {scores:?}, [{lead}{}]", letters.join(", "));
        Err(wrong("mask", format_args!("shape {:?}", mask.shape()), expected))
    }
}

/// Rejects a size `n` of 0.
pub(crate) fn at_least_one(argument: &str, n: usize) -> PyResult<()> {
    if n > 0 { Ok(()) } else { Err(wrong(argument, "0", "1 or more")) }
}

/// Rejects `parts` if it is 0 or does not divide `whole`.
pub(crate) fn divides(argument: &str, parts: usize, whole: usize, what: &str) -> PyResult<()> {
    at_least_one(argument, parts)?;
    refuse_if!(!whole.is_multiple_of(parts); argument, parts; "a divisor of {whole}, {what}");
    Ok(())
}

/// Rejects an index that is not below `end`.
pub(crate) fn below(argument: &str, index: usize, end: usize, what: &str) -> PyResult<()> {
    refuse_if!(index >= end; argument, index; "less than {end}, {what}");
    Ok(())
}

/// Rejects a token that is not in the vocabulary.
pub(crate) fn vocabulary<'a>(
    argument: &str,
    tokens: impl IntoIterator<Item = &'a u32>,
    size: usize,
) -> PyResult<()> {
    match tokens.into_iter().find(|token| **token as usize >= size) {
        None => Ok(()),
        Some(token) if size == 0 => Err(wrong(argument, token, "none: there is no token")),
        Some(token) => {
            let expected = format!("tokens of the vocabulary, 0 to {}", size - 1);
            Err(wrong(argument, token, expected))
        }
    }
}

/// Rejects numbers for which `fine` is false. `expected` describes the allowed numbers.
pub(crate) fn every(
    argument: &str,
    x: &Tensor,
    expected: &str,
    fine: impl Fn(f32) -> bool,
) -> PyResult<()> {
    // Tries without indices first, because indices are slow and Python waits.
    if x.iter().all(|x| fine(*x)) {
        return Ok(());
    }
    match x.indexed_iter().find(|(_, x)| !fine(**x)) {
        None => Ok(()),
        Some((at, x)) => Err(wrong(argument, format_args!("{x} at {:?}", at.slice()), expected)),
    }
}

/// Rejects NaN, and numbers whose magnitude is above `most`.
pub(crate) fn at_most(argument: &str, x: &Floats, most: f32) -> PyResult<()> {
    let expected = format!("numbers of at most {most:e} in size");
    every(argument, &x.0, &expected, |x| x.abs() <= most)
}
