//! Rust enumerations as Python's `enum.Enum`, with names, values, iteration and hashes.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyType},
};

/// A Rust enumeration that is an `enum.Enum` in Python. Each solution has its own class.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// The class's name and docstring.
    const NAMED: (&'static str, &'static str);
    /// Name, value and Rust variant of each member.
    const MEMBERS: &'static [(&'static str, &'static str, Self)];

    /// Returns the cell that holds the Python class after [`add`] has created it.
    fn class() -> &'static PyOnceLock<Py<PyType>>;
}

/// Creates the class and adds it to its module.
///
/// # Errors
/// If Python raises an exception.
pub(crate) fn add<C: Choice>(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let (name, doc) = C::NAMED;
    let class = C::class().get_or_try_init(py, || -> PyResult<_> {
        let members: Vec<_> = C::MEMBERS.iter().map(|(name, value, _)| (*name, *value)).collect();
        let keywords = PyDict::new(py);
        keywords.set_item("module", m.name()?)?;
        let base = py.import("enum")?.getattr("Enum")?;
        let class = base.call((name, members), Some(&keywords))?.cast_into::<PyType>()?;
        class.setattr("__doc__", doc)?;
        Ok(class.unbind())
    })?;
    m.add(name, class)
}

/// Returns the Rust variant of a Python member.
///
/// # Errors
/// A `TypeError` if `object` is not a member of this class.
pub(crate) fn extract<C: Choice>(object: &Bound<'_, PyAny>) -> PyResult<C> {
    let py = object.py();
    let class = C::class().get(py).expect("the module makes it before any function can be called");
    if object.is_instance(class.bind(py))? {
        let name: String = object.getattr("name")?.extract()?;
        if let Some((.., choice)) = C::MEMBERS.iter().find(|(other, ..)| *other == name) {
            return Ok(*choice);
        }
    }
    let class = class.bind(py).fully_qualified_name()?;
    let found = object.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!("expected a member of {class}, got {found}")))
}

/// Returns the Python member of a Rust variant.
///
/// # Errors
/// If Python raises an exception.
pub(crate) fn member<C: Choice>(choice: C, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let class = C::class().get(py).expect("the module makes it before any function can be called");
    let (name, ..) = C::MEMBERS.iter().find(|(.., other)| *other == choice).expect("all are there");
    class.bind(py).getattr(*name)
}

/// Defines the Python counterpart of a Rust enumeration: its docstring, and the name and the Python
/// value of each member.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident = $rust:ty { $($member:ident = $value:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq)]
        pub(crate) enum $name {
            $($member,)+
        }

        impl From<$name> for $rust {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$member => Self::$member,)+
                }
            }
        }

        impl From<$rust> for $name {
            fn from(choice: $rust) -> Self {
                match choice {
                    $(<$rust>::$member => Self::$member,)+
                }
            }
        }

        impl $crate::choice::Choice for $name {
            const NAMED: (&'static str, &'static str) =
                (stringify!($name), concat!($($doc),+).trim_ascii());
            const MEMBERS: &'static [(&'static str, &'static str, Self)] =
                &[$((stringify!($member), $value, Self::$member),)+];

            fn class() -> &'static pyo3::sync::PyOnceLock<pyo3::Py<pyo3::types::PyType>> {
                static CLASS: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::types::PyType>> =
                    pyo3::sync::PyOnceLock::new();
                &CLASS
            }
        }

        impl pyo3::FromPyObject<'_, '_> for $name {
            type Error = pyo3::PyErr;

            fn extract(object: pyo3::Borrowed<'_, '_, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                $crate::choice::extract(&object)
            }
        }

        impl<'py> pyo3::IntoPyObject<'py> for $name {
            type Target = pyo3::PyAny;
            type Output = pyo3::Bound<'py, pyo3::PyAny>;
            type Error = pyo3::PyErr;

            fn into_pyobject(self, py: pyo3::Python<'py>) -> pyo3::PyResult<Self::Output> {
                $crate::choice::member(self, py)
            }
        }
    };
}
pub(crate) use choice;
