//! Parses the wrong answers that the tests record, and compares them.

use anyhow::{Context, Result};
use serde_json::Value;

/// An answer that a check rejected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// Name of the check, such as `task_1_softmax/signed/output`.
    pub(super) what: String,
    pub(super) value: Answered,
    /// Distance of the worst element from the right answer, as a multiple of the tolerance.
    /// Infinite for a NaN, or if no deviation is allowed. `None` for a text.
    pub(super) distance: Option<f64>,
    /// Whether only a few of many elements differ from the right answer, so that another mistake
    /// may give the same answer.
    pub(super) thin: bool,
}

/// The contents of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    Tensor { shape: Vec<usize>, values: Vec<f32>, tolerance: f32, relative: bool },
    Text(String),
}

/// Wrong answers can be confused up to this multiple of the distance at which they count as equal.
const APART: f32 = 4.0;

impl Answer {
    /// Parses a JSON line of the file in which tests record their wrong answers.
    pub(super) fn parse(line: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(line).context("a line of the record is not JSON")?;
        let what = value["what"].as_str().context("a line of the record has no `what`")?.to_owned();
        if let Some(text) = value["text"].as_str() {
            return Ok(Self {
                what,
                value: Answered::Text(text.to_owned()),
                distance: None,
                thin: false,
            });
        }
        let numbers = |field: &str| -> Result<Vec<u64>> {
            let list = value[field]
                .as_array()
                .with_context(|| format!("a line of the record has no `{field}`"))?;
            Ok(list.iter().filter_map(Value::as_u64).collect())
        };
        let shape: Vec<usize> = numbers("shape")?.into_iter().map(|n| n as usize).collect();
        let values = numbers("bits")?.into_iter().map(|bits| f32::from_bits(bits as u32)).collect();
        let tolerance =
            value["tolerance"].as_f64().context("a line of the record has no `tolerance`")? as f32;
        let relative =
            value["relative"].as_bool().context("a line of the record has no `relative`")?;
        let distance = Some(value["distance"].as_f64().unwrap_or(f64::INFINITY));
        let thin = value["thin"].as_bool().unwrap_or(false);
        Ok(Self {
            what,
            value: Answered::Tensor { shape, values, tolerance, relative },
            distance,
            thin,
        })
    }

    /// Returns whether all elements are the same number. Such an answer does not reveal the
    /// mistake.
    pub(super) fn is_constant(&self) -> bool {
        match &self.value {
            Answered::Tensor { values, .. } => values
                .windows(2)
                .all(|pair| pair[0] == pair[1] || (pair[0].is_nan() && pair[1].is_nan())),
            Answered::Text(_) => false,
        }
    }

    /// Returns whether both are answers to the same check, and so close that a diagnosis might
    /// confuse them.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.what == other.what && self.within(other, APART)
    }

    /// Returns whether the answers are equal except for rounding.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.what == other.what && self.within(other, 1.0)
    }

    fn within(&self, other: &Self, times: f32) -> bool {
        match (&self.value, &other.value) {
            (Answered::Text(a), Answered::Text(b)) => a == b,
            (
                Answered::Tensor { shape, values, tolerance, relative },
                Answered::Tensor { shape: shape_b, values: values_b, .. },
            ) => {
                let largest = values
                    .iter()
                    .chain(values_b)
                    .filter(|v| v.is_finite())
                    .fold(0.0f32, |m, v| m.max(v.abs()));
                let close = |x: f32, y: f32| {
                    let bound = if *relative {
                        tolerance.max(1e-5) * x.abs().max(y.abs())
                    } else {
                        tolerance.max(1e-5 * largest)
                    };
                    x == y
                        || (x.is_nan() && y.is_nan())
                        || (bound.is_finite() && (x - y).abs() <= times * bound)
                };
                shape == shape_b && values.iter().zip(values_b).all(|(&x, &y)| close(x, y))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(values: &[f32]) -> Answer {
        let bits: Vec<String> = values.iter().map(|v| v.to_bits().to_string()).collect();
        let (n, bits) = (values.len(), bits.join(","));
        let line = format!(
            r#"{{"what":"w","shape":[{n}],"bits":[{bits}],"tolerance":0.001,"relative":false,"distance":null}}"#
        );
        Answer::parse(&line).unwrap()
    }

    #[test]
    fn answers_are_compared_with_a_margin() {
        let a = answer(&[1.0, f32::NAN, f32::NEG_INFINITY]);
        assert!(a.equals(&answer(&[1.0005, f32::NAN, f32::NEG_INFINITY])));
        assert!(
            !a.equals(&answer(&[1.002, f32::NAN, f32::NEG_INFINITY]))
                && a.is_like(&answer(&[1.002, f32::NAN, f32::NEG_INFINITY]))
        );
        assert!(!a.is_like(&answer(&[1.005, f32::NAN, f32::NEG_INFINITY])));
        let mut relative = [answer(&[65536.0]), answer(&[f32::INFINITY])];
        for answer in &mut relative {
            let Answered::Tensor { relative, .. } = &mut answer.value else {
                unreachable!("made above")
            };
            *relative = true;
        }
        assert!(!relative[0].is_like(&relative[1]) && !relative[1].is_like(&relative[0]));
        assert!(!a.is_like(&answer(&[1.0, 0.0, f32::NEG_INFINITY])) && !a.is_like(&answer(&[1.0])));
        assert_eq!(a.distance, Some(f64::INFINITY));
        assert!(
            !a.is_constant()
                && answer(&[f32::NAN, f32::NAN]).is_constant()
                && answer(&[0.0, -0.0]).is_constant()
        );
    }
}
