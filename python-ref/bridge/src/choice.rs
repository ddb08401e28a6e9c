//! Enumerations as Python has them: each is an `enum.Enum`, with names, values, iteration and
//! hashes.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyType},
};

/// A Rust enumeration that is an `enum.Enum` in Python, one class for each solution.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Its name and docstring.
    const NAMED: (&'static str, &'static str);
    /// Name, value and meaning of each member.
    const MEMBERS: &'static [(&'static str, &'static str, Self)];

    /// Where the class is kept.
    fn class() -> &'static PyOnceLock<Py<PyType>>;
}

/// Makes the class and adds it to its module.
///
/// # Errors
/// If Python has no `enum`.
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

/// The Rust side of a member.
///
/// # Errors
/// A `TypeError` if it is none of this class.
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

/// The Python side of a choice.
///
/// # Errors
/// If the class is not there.
pub(crate) fn member<C: Choice>(choice: C, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let class = C::class().get(py).expect("the module makes it before any function can be called");
    let (name, ..) = C::MEMBERS.iter().find(|(.., other)| *other == choice).expect("all are there");
    class.bind(py).getattr(*name)
}

/// An enumeration that stands for one in Rust, its docstring, and of each member its name and its
/// value in Python.
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
