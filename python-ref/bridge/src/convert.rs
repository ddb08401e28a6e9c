//! Conversions between NumPy arrays and tensors, and of numbers.

use std::convert::Infallible;

use ndarray::{Array2, ArrayD, Ix2};
use numpy::{IntoPyArray, PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use tiny_llm_formats::Tensor;

use crate::{background::call, memory::room};

/// Maximum number of axes that the crate `numpy` supports.
const MAX_AXES: usize = 32;

/// An array of f32 in row-major order.
///
/// Converts anything that `numpy.asarray` accepts, such as a float64 array, a slice with gaps or a
/// CPU tensor.
#[derive(Clone)]
pub(crate) struct Floats(pub Tensor);

impl Floats {
    /// Returns the values in row-major order.
    pub(crate) fn to_vec(&self) -> Vec<f32> {
        self.0.as_slice().map_or_else(|| self.0.iter().copied().collect(), <[f32]>::to_vec)
    }
}

impl FromPyObject<'_, '_> for Floats {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let array = as_array(&object, "fiu", "numbers", "float32")?;
        let array: PyReadonlyArrayDyn<'_, f32> = array.extract()?;
        Ok(Self(array.as_array().to_owned()))
    }
}

impl<'py> IntoPyObject<'py> for Floats {
    type Target = PyArrayDyn<f32>;
    type Output = Bound<'py, Self::Target>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Ok(self.0.into_pyarray(py))
    }
}

/// Runs `work`, which calls a solution, and returns its tensor as an array. Any shape is allowed.
pub(crate) fn compute(work: impl FnOnce() -> Tensor + Send + 'static) -> PyResult<Floats> {
    call(work).map(Floats)
}

/// Returns the tensor of an optional argument.
pub(crate) fn optional(array: &Option<Floats>) -> Option<&Tensor> {
    array.as_ref().map(|array| &array.0)
}

/// Returns `values` as an array `[n]`.
pub(crate) fn vector(values: &[f32]) -> Floats {
    Floats(ndarray::arr1(values).into_dyn())
}

/// An array of non-negative integers with `AXES` axes: token ids or positions.
pub(crate) struct Ids<const AXES: usize>(ArrayD<u32>);

impl<const AXES: usize> Ids<AXES> {
    /// Returns the ids in row-major order.
    pub(crate) fn to_vec(&self) -> Vec<u32> {
        self.0.iter().copied().collect()
    }
}

impl Ids<2> {
    pub(crate) fn into_rows(self) -> Array2<u32> {
        self.0.into_dimensionality::<Ix2>().expect("two axes were checked")
    }
}

impl<const AXES: usize> FromPyObject<'_, '_> for Ids<AXES> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let array = as_array(&object, "iu", "whole numbers", "int64")?;
        let array: PyReadonlyArrayDyn<'_, i64> = array.extract()?;
        let array = array.as_array();
        if array.ndim() != AXES {
            let shape = array.shape();
            return Err(PyValueError::new_err(format!(
                "expected an array with {AXES} axes, got shape {shape:?}"
            )));
        }
        if let Some(wrong) = array.iter().find(|id| u32::try_from(**id).is_err()) {
            let most = u32::MAX;
            return Err(PyValueError::new_err(format!(
                "expected whole numbers from 0 to {most}, got {wrong}"
            )));
        }
        Ok(Self(array.mapv(|id| id as u32)))
    }
}

/// Returns `numpy.asarray(object)` as `dtype`. The array's own type must be of one of the `kinds`:
/// `f` for floats, `i` and `u` for integers.
fn as_array<'py>(
    object: &Bound<'py, PyAny>,
    kinds: &str,
    what: &str,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let wrong =
        |found: String| PyTypeError::new_err(format!("expected an array of {what}, got {found}"));
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (object,)).map_err(|error| {
        // Other exceptions of the object, such as Ctrl-C, are passed on unchanged.
        let expected =
            error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py);
        if expected { wrong(format!("an object: {error}")) } else { error }
    })?;
    let found = array.getattr("dtype")?;
    // NumPy chooses an arbitrary type for an empty list.
    let empty = array.getattr("size")?.extract::<usize>()? == 0;
    if !empty && !kinds.contains(&found.getattr("kind")?.extract::<String>()?) {
        return Err(wrong(format!("dtype {found}")));
    }
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.len() > MAX_AXES {
        let axes = shape.len();
        return Err(PyValueError::new_err(format!(
            "expected an array with at most {MAX_AXES} axes, got {axes}"
        )));
    }
    if shape.is_empty() {
        return Err(wrong("a single number".to_owned()));
    }
    room("an array", &shape)?;
    // Row-major order, any cast, no subclass of ndarray, and no unnecessary copy.
    let converted = array.call_method1("astype", (dtype, "C", "unsafe", false, false))?;
    if dtype == "float32" && found.getattr("itemsize")?.extract::<usize>()? > size_of::<f32>() {
        let infinite = |array: &Bound<'py, PyAny>| -> PyResult<usize> {
            let infinite = numpy.call_method1("isinf", (array,))?;
            numpy.call_method1("count_nonzero", (infinite,))?.extract()
        };
        if infinite(&converted)? != infinite(&array)? {
            let problem = "expected numbers that float32 can hold, got one beyond 3.4e38";
            return Err(PyValueError::new_err(problem));
        }
    }
    Ok(converted)
}

/// Defines types of numbers, each with the function that reads it from Python.
macro_rules! numbers {
    ($($(#[$meta:meta])+ $name:ident($number:ty) = $read:expr;)+) => {
        $(
            $(#[$meta])+
            #[derive(Clone, Copy)]
            pub(crate) struct $name(pub $number);

            impl FromPyObject<'_, '_> for $name {
                type Error = PyErr;

                fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
                    let read: fn(&Bound<'_, PyAny>) -> PyResult<$number> = $read;
                    read(&object).map(Self)
                }
            }
        )+
    };
}

numbers! {
    /// A count or an index: a non-negative integer.
    Count(usize) = |x| whole(x, usize::MAX as u64).map(|n| n as usize);
    /// A token's id.
    #[derive(PartialEq, Eq, Hash)]
    Token(u32) = |x| whole(x, u32::MAX.into()).map(|n| n as u32);
    /// An unsigned 64-bit integer.
    Long(u64) = |x| whole(x, u64::MAX);
    /// A finite f64.
    Double(f64) = |x| finite(x, f64::MAX);
    /// A finite number in the range of f32.
    Real(f32) = |x| finite(x, f32::MAX.into()).map(|x| x as f32);
    /// A finite number in the range of f32, or −∞, which is the maximum of an empty list of scores.
    Lowest(f32) = |x| match x.extract::<f64>() {
        Ok(f64::NEG_INFINITY) => Ok(f32::NEG_INFINITY),
        _ => finite(x, f32::MAX.into()).map(|x| x as f32),
    };
}

/// Reads an integer from 0 to `most`.
///
/// # Errors
/// A `ValueError` if the integer is out of range, a `TypeError` if the object is not an integer.
pub(crate) fn whole(object: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    let refuse = || {
        let found = match object.str() {
            Ok(text) if text.to_string().len() <= 40 => text.to_string(),
            _ => "one of many digits".to_owned(),
        };
        PyValueError::new_err(format!("expected a whole number from 0 to {most}, got {found}"))
    };
    match object.extract::<u64>() {
        Ok(n) if n <= most => Ok(n),
        Ok(_) => Err(refuse()),
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Err(refuse()),
        Err(error) => Err(error),
    }
}

/// A `bytes` object. Unlike `Vec<u8>`, does not accept a list of integers.
pub(crate) struct Octets(pub Vec<u8>);

impl FromPyObject<'_, '_> for Octets {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        object.extract::<&[u8]>().map(|bytes| Self(bytes.to_vec())).map_err(|_| {
            let found = object.get_type().name().map_or_else(|_| String::new(), |n| n.to_string());
            PyTypeError::new_err(format!("expected bytes, got {found}"))
        })
    }
}

impl<'py> IntoPyObject<'py> for Octets {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(PyBytes::new(py, &self.0))
    }
}

fn finite(object: &Bound<'_, PyAny>, most: f64) -> PyResult<f64> {
    let refuse = |found: &str| {
        let problem = format!("expected a finite number of at most {most:e} in size, got {found}");
        PyValueError::new_err(problem)
    };
    match object.extract::<f64>() {
        Ok(x) if x.abs() <= most => Ok(x),
        Ok(x) => Err(refuse(&x.to_string())),
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
            Err(refuse("a whole number beyond that"))
        }
        Err(error) => Err(error),
    }
}
