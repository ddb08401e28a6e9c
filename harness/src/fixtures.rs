//! Committed inputs and expected outputs, written by `python-ref/oracle`.
//!
//! `tests/fixtures/` has one safetensors file per day. A tensor is named `CASE/NAME`
//! (`task_1_softmax/signed/x`). For each case, the file's metadata holds one JSON object:
//!
//! ```json
//! {"seed": 7, "why": "two fully masked rows", "scalars": {"scale": 0.5},
//!  "tolerance": {"output": 1.5e-6}, "relative": [],
//!  "derivation": "output: 8 roundings × 2^-24 × …"}
//! ```
//!
//! `relative` lists the outputs whose tolerance is relative. If present, `nan` explains a NaN on
//! this input. If `nan_place` gives a range of elements in row-major order (`[start, end]`, with
//! `end` excluded), the explanation is given only if exactly these elements are NaN.

use std::sync::Arc;

use serde_core::de::DeserializeOwned;
/// The type that [`Case::value`] returns.
pub use serde_json::Value as Json;
use serde_json::Value;

use crate::{
    check::{self, worst_mismatch},
    diagnosis::{self, Nan},
    difference, panics,
    stored::Stored,
    tolerance::Tolerance,
};
use tiny_llm_formats::{Tensor, tensor::tensor};

/// Returns a tensor of random numbers in −2..2, the same on every machine, for tests without
/// expected output.
#[must_use]
pub fn random(seed: u64, shape: &[usize]) -> Tensor {
    let mut state = seed;
    Tensor::from_shape_simple_fn(shape, || {
        // Knuth's linear congruential generator (MMIX). Its high bits are the most random.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 22) as f32 - 2.0
    })
}

/// Returns a part of a [`Case::value`] as a type of Rust, such as a list of numbers.
///
/// # Panics
/// If it has another type.
#[must_use]
pub fn read<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|e| panic!("{e}: {value}"))
}

/// The fixtures of one day.
pub struct Fixtures {
    file: Arc<Stored>,
}

impl Fixtures {
    /// Opens `tests/fixtures/NAME.safetensors`.
    ///
    /// # Panics
    /// If the file is missing or is not a safetensors file. (The repository is then incomplete.)
    #[must_use]
    pub fn open(name: &str) -> Self {
        panics::install();
        Self { file: Arc::new(Stored::open(name)) }
    }

    /// Returns a case: inputs, scalars and expected outputs.
    ///
    /// # Panics
    /// If there is no such case.
    #[must_use]
    pub fn case(&self, name: &str) -> Case {
        let about = self.file.about(name).unwrap_or_else(|| {
            panic!("{}: no case {name:?}; there are {:?}", self.file.name, self.cases(""))
        });
        Case { file: self.file.clone(), name: name.to_owned(), about }
    }

    /// Returns the sorted names of all cases that start with `prefix`.
    #[must_use]
    pub fn cases(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<_> =
            self.file.names().filter(|name| name.starts_with(prefix)).cloned().collect();
        names.sort();
        names
    }
}

/// One case of a day's fixtures.
pub struct Case {
    file: Arc<Stored>,
    name: String,
    about: Value,
}

impl Case {
    /// Returns the name of the case, such as `task_2_attention/wide`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns an f32 tensor of this case.
    ///
    /// # Panics
    /// If the tensor is missing or not f32.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Tensor {
        self.get(name).unwrap_or_else(|| panic!("case {} has no tensor {name:?}", self.name))
    }

    /// Returns an f32 tensor of this case, if present.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Tensor> {
        self.file.f32s(&format!("{}/{name}", self.name))
    }

    /// Returns a tensor of whole numbers (stored as I64): token ids, positions.
    ///
    /// # Panics
    /// If the tensor is missing, not I64, or holds a negative number.
    #[must_use]
    pub fn integers(&self, name: &str) -> ndarray::ArrayD<usize> {
        let whole = self.file.tensor(&format!("{}/{name}", self.name));
        let (place, bytes) =
            whole.unwrap_or_else(|| panic!("case {} has no tensor {name:?}", self.name));
        assert_eq!(place.dtype, "I64", "{}/{name}: data type", self.name);
        let values = bytes.chunks_exact(8).map(|b| {
            i64::from_le_bytes(b.try_into().expect("eight bytes")).try_into().expect("not negative")
        });
        ndarray::ArrayD::from_shape_vec(&place.shape[..], values.collect())
            .expect("as many values as the shape says")
    }

    /// Returns the tensor of whole numbers `name` as token ids, in row-major order.
    ///
    /// # Panics
    /// As [`Case::integers`], or if a number does not fit.
    #[must_use]
    pub fn ids(&self, name: &str) -> Vec<u32> {
        self.integers(name).iter().map(|&id| id.try_into().expect("a token id")).collect()
    }

    /// Returns the tensor of whole numbers `name` as bytes, in row-major order.
    ///
    /// # Panics
    /// As [`Case::integers`], or if a number does not fit.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.integers(name).iter().map(|&byte| byte.try_into().expect("a byte")).collect()
    }

    /// Returns the numbers of the f32 tensor `name`, in row-major order.
    ///
    /// # Panics
    /// As [`Case::tensor`].
    #[must_use]
    pub fn numbers(&self, name: &str) -> Vec<f32> {
        self.tensor(name).iter().copied().collect()
    }

    /// Returns a scalar of this case, such as `scale`, `eps` or `n_heads`.
    ///
    /// # Panics
    /// If the scalar is missing.
    #[must_use]
    pub fn scalar(&self, name: &str) -> f64 {
        self.about["scalars"][name]
            .as_f64()
            .unwrap_or_else(|| panic!("case {} has no scalar {name:?}", self.name))
    }

    /// Returns a scalar that is a whole number, such as `n_heads`.
    ///
    /// # Panics
    /// If the scalar is missing or not a whole number.
    #[must_use]
    pub fn count(&self, name: &str) -> usize {
        let n = self.about["scalars"][name]
            .as_u64()
            .unwrap_or_else(|| panic!("case {} has no count {name:?}", self.name));
        usize::try_from(n).expect("fits")
    }

    /// Returns an entry of the case's `scalars` as JSON, or null if there is no such entry.
    #[must_use]
    pub fn value(&self, name: &str) -> &Value {
        &self.about["scalars"][name]
    }

    /// Returns an entry of the case's `scalars` as a type of Rust, such as a list of numbers.
    ///
    /// # Panics
    /// If there is no such entry or it has another type.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> T {
        T::deserialize(self.value(name))
            .unwrap_or_else(|e| panic!("case {}: {name}: {e}", self.name))
    }

    /// Returns the stored tolerance of an expected output.
    ///
    /// # Panics
    /// If the tolerance is missing.
    #[must_use]
    pub fn tolerance(&self, output: &str) -> Tolerance {
        let bound = self.about["tolerance"][output]
            .as_f64()
            .unwrap_or_else(|| panic!("case {} states no tolerance for {output:?}", self.name));
        let relative = self.about["relative"]
            .as_array()
            .is_some_and(|names| names.iter().any(|name| name == output));
        if relative { Tolerance::Relative(bound as f32) } else { Tolerance::Absolute(bound as f32) }
    }

    /// Asserts that `found` matches the case's expected `output`.
    ///
    /// # Panics
    /// If it doesn't match. The message shows the case, the purpose and the seed of its input, the
    /// shapes, the worst index, both values and the tolerance.
    #[track_caller]
    pub fn check(&self, output: &str, found: &Tensor) {
        self.check_rows(output, &[], found);
    }

    /// Like [`Case::check`], but the message contains the text `more` in place of the input's
    /// purpose and seed. Each line of `more` must begin with a line feed.
    ///
    /// # Panics
    /// If `found` doesn't match, as in [`Case::check`].
    #[track_caller]
    pub fn check_noting(&self, output: &str, found: &Tensor, more: &str) {
        let what = format!("{}/{output}", self.name);
        let (expected, tolerance) = (self.tensor(output), self.tolerance(output));
        check::assert_close_led(&what, found, &expected, tolerance, more, self.nan());
    }

    /// Returns the cause of a NaN on this input, if the fixture names one.
    fn nan(&self) -> Option<Nan<'_>> {
        let end = |i: usize| self.about["nan_place"][i].as_u64().map(|n| n as usize);
        let place = end(0).zip(end(1)).map(|(start, end)| start..end);
        Some(Nan { comes_of: self.about["nan"].as_str()?, place })
    }

    /// Like [`Case::check`], for an answer whose row `i` has the name `rows[i]`, such as `k = 3`.
    /// The message names the wrong rows.
    ///
    /// # Panics
    /// If `found` doesn't match, as in [`Case::check`].
    #[track_caller]
    pub fn check_rows(&self, output: &str, rows: &[String], found: &Tensor) {
        let (expected, tolerance) = (self.tensor(output), self.tolerance(output));
        let mut more = String::new();
        if !rows.is_empty() && found.shape() == expected.shape() {
            let pairs = found.outer_iter().zip(expected.outer_iter()).zip(rows).enumerate();
            let wrong = pairs.filter(|(_, ((x, y), _))| {
                worst_mismatch(&x.to_owned(), &y.to_owned(), tolerance).is_some()
            });
            let wrong: Vec<_> = wrong.map(|(i, (_, row))| format!("{row} (row {i})")).collect();
            more += &format!("\n  wrong at {}", difference::some_of(&wrong, rows.len()));
        }
        more += &format!(
            "\n  input    {} (seed {})",
            self.about["why"].as_str().unwrap_or("no note"),
            self.about["seed"]
        );
        let what = format!("{}/{output}", self.name);
        check::assert_close_led(&what, found, &expected, tolerance, &more, self.nan());
    }

    /// Like [`Case::check`], for the bytes of a file. The case's scalar `fields` lists the start
    /// and name of each field of the file.
    ///
    /// # Panics
    /// If the bytes differ. The message shows the first byte that differs, and its field.
    #[track_caller]
    pub fn check_bytes(&self, output: &str, found: &[u8]) {
        let expected = self.tensor(output);
        let bytes: Vec<u8> = expected.iter().map(|&byte| byte as u8).collect();
        if found == bytes {
            return;
        }
        let at = found.iter().zip(&bytes).take_while(|(x, y)| x == y).count();
        let begins = |field: &&Value| field[0].as_u64().is_some_and(|start| start as usize <= at);
        let field = self.value("fields").as_array().and_then(|fields| fields.iter().rfind(begins));
        let field = field.and_then(|field| field[1].as_str()).unwrap_or("no field");
        let shown = |bytes: &[u8]| match &bytes[at..] {
            [] => "the end".to_owned(),
            rest => format!(
                "{:?}{}",
                &rest[..rest.len().min(8)],
                if rest.len() > 8 { " …" } else { "" }
            ),
        };
        let what = format!("{}/{output}", self.name);
        let found_values =
            tensor(&[found.len()], found.iter().map(|&byte| f32::from(byte)).collect());
        panic!(
            "{what}: found {} bytes, expected {}\n  first difference at byte {at}, {field}\n    \
             found    {}\n    expected {}\n  input    {}{}",
            found.len(),
            bytes.len(),
            shown(found),
            shown(&bytes),
            self.about["why"].as_str().unwrap_or("no note"),
            diagnosis::of_bytes(&what, &found_values, &expected, self.tolerance(output)),
        );
    }
}
