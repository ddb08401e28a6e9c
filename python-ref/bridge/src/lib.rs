//! The Python module `tiny_llm`: both solutions, with the same paths as in Rust.
//!
//! `tiny_llm.student` is the learner's `src/`, and `tiny_llm.reference` is the reference solution.
//! The binding is in `solution/`, which is compiled once for each of the two crates. Array
//! arguments are converted to float32, and returned arrays are NumPy arrays of float32. Functions
//! reject an invalid argument with a `ValueError` that names it, and raise a `MemoryError` if
//! memory is short.

use pyo3::{prelude::*, types::PyType};

mod background;
mod choice;
mod convert;
#[cfg(feature = "gpu")]
mod device;
mod exports;
mod kit;
mod memory;
mod panics;
mod shapes;

/// Imports that almost every binding uses.
mod prelude {
    pub(crate) use std::sync::Arc;

    pub(crate) use pyo3::{
        exceptions::{PyTypeError, PyValueError},
        prelude::*,
    };
    pub(crate) use tiny_llm_formats::{Tensor, tensor::tensor};

    pub(crate) use crate::{
        background::{Kept, attempt, call, converse},
        choice::choice,
        convert::*,
        exports::exports,
        kit::{ModelConfig, located},
        memory::{room, room_for},
        panics::{catch, value_error, wrong_argument},
        shapes::*,
    };
}

#[path = "solution"]
mod student {
    pub(crate) use tiny_llm as rust;
    #[cfg(feature = "serve")]
    pub(crate) use tiny_llm_engine_student::open;
    #[cfg(feature = "serve")]
    pub(crate) mod engine;
    pub(crate) mod week1;
    pub(crate) mod week2;
    pub(crate) mod week3;
    pub(crate) mod week4;
    use crate::prelude::*;

    exports! {
        #[cfg(feature = "serve")] contents engine;
        module week1, week2, week3, week4;
    }
}

#[path = "solution"]
#[allow(clippy::duplicate_mod, reason = "one binding for two crates with the same paths")]
mod reference {
    #[cfg(feature = "serve")]
    pub(crate) use tiny_llm_engine_reference::open;
    pub(crate) use tiny_llm_reference as rust;
    #[cfg(feature = "serve")]
    pub(crate) mod engine;
    pub(crate) mod week1;
    pub(crate) mod week2;
    pub(crate) mod week3;
    pub(crate) mod week4;
    use crate::prelude::*;

    exports! {
        #[cfg(feature = "serve")] contents engine;
        module week1, week2, week3, week4;
    }
}

#[pymodule]
fn _bridge(m: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::install_hook();
    m.add("SolutionPanic", m.py().get_type::<panics::SolutionPanic>())?;
    m.add("NotImplementedYet", m.py().get_type::<panics::NotImplementedYet>())?;
    m.add_function(wrap_pyfunction!(_panic, m)?)?;
    submodule(m, "kit", kit::fill)?;
    submodule(m, "student", student::fill)?;
    submodule(m, "reference", reference::fill)
}

/// Panics with `message`, as a solution might. The bridge's own tests call it.
#[pyfunction]
fn _panic(message: String) -> PyResult<()> {
    background::call(move || panic!("{message}"))
}

/// Creates a module and adds it to its parent and to `sys.modules`, so that
/// `import tiny_llm.reference.week1.attention` finds it.
fn submodule(
    parent: &Bound<'_, PyModule>,
    name: &str,
    fill: fn(&Bound<'_, PyModule>) -> PyResult<()>,
) -> PyResult<()> {
    let py = parent.py();
    let above = parent.name()?.to_string();
    // In Python, the package `tiny_llm` replaces the name of its library, `tiny_llm._bridge`.
    let path = format!("{}.{name}", above.strip_suffix("._bridge").unwrap_or(&above));
    let module = PyModule::new(py, &path)?;
    fill(&module)?;
    // Without `__all__`, `import *` takes all public names, as from a module written in Python.
    if module.hasattr("__all__")? {
        module.delattr("__all__")?;
    }
    // A class is compiled for both solutions, so its module is known only here.
    for item in module.dict().values() {
        if let Ok(class) = item.cast::<PyType>() {
            class.setattr("__module__", &path)?;
        }
    }
    py.import("sys")?.getattr("modules")?.set_item(&path, &module)?;
    parent.add(name, module)
}
