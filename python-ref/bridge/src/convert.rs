//! NumPy arrays to tensors and back.

use ndarray::{Array2, ArrayD, Ix2};
use numpy::{IntoPyArray, PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    marker::Ungil,
    prelude::*,
};
use tiny_llm_formats::Tensor;

use crate::panics::call;

/// An array of numbers with `MIN` to `MAX` axes, as f32 in row-major order.
///
/// Anything that `numpy.asarray` takes is converted, so a float64 array, a slice with gaps or a CPU
/// tensor will do.
#[derive(Clone)]
pub(crate) struct Floats<const MIN: usize, const MAX: usize>(pub Tensor);

/// `[...]` with at least one axis.
pub(crate) type Any = Floats<1, 32>;
/// `[..., rows, columns]`
pub(crate) type Matrices = Floats<2, 32>;
pub(crate) type Vector = Floats<1, 1>;
pub(crate) type Matrix = Floats<2, 2>;
/// `[B, L, E]`
pub(crate) type Sequences = Floats<3, 3>;
/// `[B, H, L, D]`
pub(crate) type Heads = Floats<4, 4>;

impl<const MIN: usize, const MAX: usize> Floats<MIN, MAX> {
    /// The values in row-major order.
    pub(crate) fn to_vec(&self) -> Vec<f32> {
        self.0.iter().copied().collect()
    }
}

impl<const MIN: usize, const MAX: usize> FromPyObject<'_, '_> for Floats<MIN, MAX> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArrayDyn<f32> =
            as_array(&object, "fiu", "numbers", "float32")?.extract()?;
        check_axes(array.as_array().shape(), MIN, MAX)?;
        Ok(Self(array.as_array().to_owned()))
    }
}

impl<'py, const MIN: usize, const MAX: usize> IntoPyObject<'py> for Floats<MIN, MAX> {
    type Target = PyArrayDyn<f32>;
    type Output = Bound<'py, Self::Target>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Ok(self.0.into_pyarray(py))
    }
}

/// Runs a solution's code; what it returns goes to Python whatever its axes are.
pub(crate) fn compute(py: Python<'_>, f: impl FnOnce() -> Tensor + Ungil + Send) -> PyResult<Any> {
    call(py, f).map(Floats)
}

/// The tensor of an argument that may be left out.
pub(crate) fn optional<const MIN: usize, const MAX: usize>(
    array: &Option<Floats<MIN, MAX>>,
) -> Option<&Tensor> {
    array.as_ref().map(|array| &array.0)
}

/// A row of logits.
pub(crate) fn vector(values: &[f32]) -> Vector {
    Floats(ndarray::arr1(values).into_dyn())
}

/// Whole numbers from 0 on: token ids or positions, with `MIN` to `MAX` axes.
pub(crate) struct Ids<const MIN: usize, const MAX: usize>(pub ArrayD<u32>);

impl<const MIN: usize, const MAX: usize> Ids<MIN, MAX> {
    /// In row-major order.
    pub(crate) fn to_vec(&self) -> Vec<u32> {
        self.0.iter().copied().collect()
    }
}

impl Ids<2, 2> {
    pub(crate) fn into_rows(self) -> Array2<u32> {
        self.0.into_dimensionality::<Ix2>().expect("two axes were checked")
    }
}

impl<const MIN: usize, const MAX: usize> FromPyObject<'_, '_> for Ids<MIN, MAX> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArrayDyn<i64> =
            as_array(&object, "iu", "whole numbers", "int64")?.extract()?;
        let array = array.as_array();
        check_axes(array.shape(), MIN, MAX)?;
        if let Some(wrong) = array.iter().find(|id| u32::try_from(**id).is_err()) {
            return Err(PyValueError::new_err(format!(
                "expected whole numbers from 0 to {}, got {wrong}",
                u32::MAX
            )));
        }
        Ok(Self(array.mapv(|id| id as u32)))
    }
}

/// `numpy.asarray(object)` as `dtype`, if its own type is of one of these kinds (`f` float, `i` and
/// `u` whole numbers).
fn as_array<'py>(
    object: &Bound<'py, PyAny>,
    kinds: &str,
    what: &str,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let wrong =
        |found: String| PyTypeError::new_err(format!("expected an array of {what}, got {found}"));
    let array = object
        .py()
        .import("numpy")?
        .call_method1("asarray", (object,))
        .map_err(|error| wrong(format!("an object: {error}")))?;
    let found = array.getattr("dtype")?;
    // An empty list has no type of its own.
    let empty = array.getattr("size")?.extract::<usize>()? == 0;
    if !empty && !kinds.contains(&found.getattr("kind")?.extract::<String>()?) {
        return Err(wrong(format!("dtype {found}")));
    }
    // In row-major order, whatever the values, no subclass of ndarray, and copied only where that
    // changes anything.
    array.call_method1("astype", (dtype, "C", "unsafe", false, false))
}

fn check_axes(shape: &[usize], min: usize, max: usize) -> PyResult<()> {
    if (min..=max).contains(&shape.len()) {
        return Ok(());
    }
    let expected = if min == max { format!("{min}") } else { format!("at least {min}") };
    Err(PyTypeError::new_err(format!(
        "expected an array with {expected} axes, got shape {shape:?}"
    )))
}
