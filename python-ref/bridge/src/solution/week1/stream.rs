//! Day 6.

use pyo3::prelude::*;

use super::rust::stream as rust;
use crate::panics::catch;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<TextStream>()
}

#[pyclass]
#[derive(Default)]
pub(crate) struct TextStream(rust::TextStream);

#[pymethods]
impl TextStream {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, bytes: &[u8]) -> PyResult<String> {
        catch(|| self.0.push(bytes))
    }

    fn finish(&mut self) -> PyResult<String> {
        catch(|| self.0.finish())
    }
}
