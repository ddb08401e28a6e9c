//! Day 1: layouts, and views of them.

use pyo3::prelude::*;

use super::{
    super::week2::blocks::type_named,
    rust::{layout as rust, strided::Strided},
};
use crate::{background::call, convert::Count, memory::room_for, panics::value_error};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Layout>()
}

/// Where the elements of a tensor lie; axis 0 is the innermost one.
#[pyclass(frozen, from_py_object)]
#[derive(Clone, Copy)]
pub(crate) struct Layout(pub(super) rust::Layout);

/// A number for each axis.
type Four = [Count; rust::AXES];

fn plain(numbers: Four) -> [usize; rust::AXES] {
    numbers.map(|n| n.0)
}

fn sizes(numbers: &[Count]) -> Vec<usize> {
    numbers.iter().map(|n| n.0).collect()
}

#[pymethods]
impl Layout {
    /// Elements one after the other, from byte 0 on; `tensor_type` as llama.cpp writes it: `Q4_0`.
    #[new]
    fn new(py: Python<'_>, tensor_type: &str, sizes: Vec<Count>) -> PyResult<Self> {
        let (tensor_type, sizes) = (type_named(tensor_type)?, self::sizes(&sizes));
        made(py, move || rust::Layout::new(tensor_type, &sizes))
    }

    /// The same for a shape as PyTorch writes it.
    #[staticmethod]
    fn from_torch(py: Python<'_>, tensor_type: &str, shape: Vec<Count>) -> PyResult<Self> {
        let (tensor_type, shape) = (type_named(tensor_type)?, sizes(&shape));
        made(py, move || rust::Layout::from_torch(tensor_type, &shape))
    }

    /// Elements along each axis.
    #[getter]
    fn ne(&self) -> Vec<usize> {
        self.0.ne.to_vec()
    }

    /// Bytes from one to the next along each axis.
    #[getter]
    fn nb(&self) -> Vec<usize> {
        self.0.nb.to_vec()
    }

    /// The byte of the first element.
    #[getter]
    fn offset(&self) -> usize {
        self.0.offset
    }

    /// The byte behind the last one that belongs to an element.
    fn end(&self, py: Python<'_>) -> PyResult<usize> {
        let layout = self.0;
        call(py, move || layout.end())
    }

    /// A tensor of other sizes and strides in the same bytes.
    fn view(&self, py: Python<'_>, ne: Four, nb: Four, offset: Count) -> PyResult<Self> {
        let layout = self.0;
        made(py, move || layout.view(plain(ne), plain(nb), offset.0))
    }

    /// Axis `i` becomes axis `axes[i]`.
    fn permute(&self, py: Python<'_>, axes: Four) -> PyResult<Self> {
        let layout = self.0;
        made(py, move || layout.permute(plain(axes)))
    }

    /// Axes of one element get other sizes.
    fn broadcast(&self, py: Python<'_>, ne: Four) -> PyResult<Self> {
        let layout = self.0;
        made(py, move || layout.broadcast(plain(ne)))
    }

    /// Other sizes of the same elements.
    fn reshape(&self, py: Python<'_>, sizes: Vec<Count>) -> PyResult<Self> {
        let (layout, sizes) = (self.0, self::sizes(&sizes));
        made(py, move || layout.reshape(&sizes))
    }

    /// Whether the elements lie one after the other.
    fn is_contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        let layout = self.0;
        call(py, move || layout.is_contiguous())
    }

    /// Whether those of each row do.
    fn has_whole_rows(&self, py: Python<'_>) -> PyResult<bool> {
        let layout = self.0;
        call(py, move || layout.has_whole_rows())
    }

    /// The bytes of the elements in their order, from the bytes in which they lie.
    fn contiguous(&self, py: Python<'_>, bytes: Vec<u8>) -> PyResult<Vec<u8>> {
        let layout = self.0;
        let [ne0, ne1, ne2, ne3] = layout.ne;
        let blocks = ne0 / layout.tensor_type.block_len();
        room_for("the copy", &[blocks, ne1, ne2, ne3], layout.tensor_type.block_bytes())?;
        let copied = call(py, move || Ok(Strided::new(layout, &bytes)?.contiguous()))?;
        copied.map_err(value_error)
    }
}

/// What comes of a layout that may be refused.
fn made(
    py: Python<'_>,
    make: impl FnOnce() -> anyhow::Result<rust::Layout> + Send + 'static,
) -> PyResult<Layout> {
    call(py, make)?.map(Layout).map_err(value_error)
}
