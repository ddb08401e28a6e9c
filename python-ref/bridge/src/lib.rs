//! The Python module `tiny_llm`: both solutions, seen from Python, under the paths that they have
//! in Rust.
//!
//! `tiny_llm.student` is the learner's `src/`, `tiny_llm.reference` is ours. The binding is written
//! once, in `solution/`, and compiled for each of the two crates. Arrays go in and come out as
//! NumPy arrays of float32.

use pyo3::{prelude::*, types::PyType};

mod background;
mod choice;
mod convert;
#[cfg(feature = "gpu")]
mod device;
mod kit;
mod memory;
mod panics;
mod shapes;

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
}

#[pymodule]
fn _bridge(m: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::install_hook();
    m.add("SolutionPanic", m.py().get_type::<panics::SolutionPanic>())?;
    m.add("NotImplementedYet", m.py().get_type::<panics::NotImplementedYet>())?;
    m.add_function(wrap_pyfunction!(_panic, m)?)?;
    submodule(m, "kit", "tiny_llm.kit", kit::fill)?;
    submodule(m, "student", "tiny_llm.student", |m| {
        #[cfg(feature = "serve")]
        student::engine::fill(m)?;
        submodule(m, "week1", "tiny_llm.student.week1", student::week1::fill)?;
        submodule(m, "week2", "tiny_llm.student.week2", student::week2::fill)?;
        submodule(m, "week3", "tiny_llm.student.week3", student::week3::fill)?;
        submodule(m, "week4", "tiny_llm.student.week4", student::week4::fill)
    })?;
    submodule(m, "reference", "tiny_llm.reference", |m| {
        #[cfg(feature = "serve")]
        reference::engine::fill(m)?;
        submodule(m, "week1", "tiny_llm.reference.week1", reference::week1::fill)?;
        submodule(m, "week2", "tiny_llm.reference.week2", reference::week2::fill)?;
        submodule(m, "week3", "tiny_llm.reference.week3", reference::week3::fill)?;
        submodule(m, "week4", "tiny_llm.reference.week4", reference::week4::fill)
    })
}

/// Panics as a solution may. The bridge's own tests look at what becomes of it.
#[pyfunction]
fn _panic(py: Python<'_>, message: String) -> PyResult<()> {
    background::call(py, move || panic!("{message}"))
}

/// Adds a module to its parent and to `sys.modules`, so that
/// `import tiny_llm.reference.week1.attention` finds it.
fn submodule(
    parent: &Bound<'_, PyModule>,
    name: &str,
    path: &str,
    fill: fn(&Bound<'_, PyModule>) -> PyResult<()>,
) -> PyResult<()> {
    let py = parent.py();
    let module = PyModule::new(py, path)?;
    fill(&module)?;
    // What `import *` takes is what stands there, as in a module of Python.
    if module.hasattr("__all__")? {
        module.delattr("__all__")?;
    }
    // A class is compiled for two modules, so its own is only known here.
    for item in module.dict().values() {
        if let Ok(class) = item.cast::<PyType>() {
            class.setattr("__module__", path)?;
        }
    }
    py.import("sys")?.getattr("modules")?.set_item(path, &module)?;
    parent.add(name, module)
}
