//! Day 1: layouts, and views of them.

use super::{
    super::week2::blocks::type_named,
    rust::{layout as rust, strided::Strided},
};
use crate::prelude::*;

exports! { class Layout; }

/// Where each element of a tensor is stored. Axis 0 is the innermost one.
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
    /// Creates a contiguous layout from byte 0 on. `tensor_type` is a name such as `Q4_0`.
    #[new]
    fn new(tensor_type: &str, sizes: Vec<Count>) -> PyResult<Self> {
        let (tensor_type, sizes) = (type_named(tensor_type)?, self::sizes(&sizes));
        attempt(move || rust::Layout::new(tensor_type, &sizes)).map(Self)
    }

    /// Creates a contiguous layout for a shape in PyTorch's order.
    #[staticmethod]
    fn from_torch(tensor_type: &str, shape: Vec<Count>) -> PyResult<Self> {
        let (tensor_type, shape) = (type_named(tensor_type)?, sizes(&shape));
        attempt(move || rust::Layout::from_torch(tensor_type, &shape)).map(Self)
    }

    /// Number of elements along each axis.
    #[getter]
    fn ne(&self) -> Vec<usize> {
        self.0.ne.to_vec()
    }

    /// Number of bytes from one element to the next along each axis.
    #[getter]
    fn nb(&self) -> Vec<usize> {
        self.0.nb.to_vec()
    }

    /// Byte at which the first element begins.
    #[getter]
    fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the index of the byte after the last element.
    fn end(&self) -> PyResult<usize> {
        let layout = self.0;
        call(move || layout.end())
    }

    /// Returns a view of the same bytes with other sizes and strides.
    fn view(&self, ne: Four, nb: Four, offset: Count) -> PyResult<Self> {
        made(self.0, move |layout| layout.view(plain(ne), plain(nb), offset.0))
    }

    /// Permutes the axes: axis `i` becomes axis `axes[i]`.
    fn permute(&self, axes: Four) -> PyResult<Self> {
        made(self.0, move |layout| layout.permute(plain(axes)))
    }

    /// Broadcasts axes of one element to the sizes `ne`.
    fn broadcast(&self, ne: Four) -> PyResult<Self> {
        made(self.0, move |layout| layout.broadcast(plain(ne)))
    }

    /// Returns a view of the same elements with other sizes.
    fn reshape(&self, sizes: Vec<Count>) -> PyResult<Self> {
        let sizes = self::sizes(&sizes);
        made(self.0, move |layout| layout.reshape(&sizes))
    }

    /// Returns whether the elements are stored in order and without gaps.
    fn is_contiguous(&self) -> PyResult<bool> {
        let layout = self.0;
        call(move || layout.is_contiguous())
    }

    /// Returns whether the elements of each row are stored without gaps.
    fn has_whole_rows(&self) -> PyResult<bool> {
        let layout = self.0;
        call(move || layout.has_whole_rows())
    }

    /// Returns a copy of the elements in `bytes`, in order and without gaps.
    fn contiguous(&self, bytes: Vec<u8>) -> PyResult<Vec<u8>> {
        let layout = self.0;
        let [ne0, ne1, ne2, ne3] = layout.ne;
        let blocks = ne0 / layout.tensor_type.block_len();
        room_for("the copy", &[blocks, ne1, ne2, ne3], layout.tensor_type.block_bytes())?;
        attempt(move || Ok(Strided::new(layout, &bytes)?.contiguous()))
    }
}

/// Returns the layout that `make` creates from `layout`. An error becomes a `ValueError`.
fn made(
    layout: rust::Layout,
    make: impl FnOnce(rust::Layout) -> anyhow::Result<rust::Layout> + Send + 'static,
) -> PyResult<Layout> {
    attempt(move || make(layout)).map(Layout)
}
