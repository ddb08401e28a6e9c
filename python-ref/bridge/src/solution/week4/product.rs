//! Day 1: a product of views.

use super::{
    layout::Layout,
    rust::{product as rust, strided::Strided},
};
use crate::prelude::*;

exports! { fn mul_mat; }

/// Multiplies every row of `a` by every row of `b`, each a layout and its bytes. The axes of the
/// product are in PyTorch's order.
#[pyfunction]
fn mul_mat(a: (Layout, Vec<u8>), b: (Layout, Vec<u8>)) -> PyResult<Floats> {
    let (left, right) = (a.0.0, b.0.0);
    room("the product", &[left.ne[1], right.ne[1], right.ne[2], right.ne[3]])?;
    attempt(move || {
        let (layout, found) = rust::mul_mat(Strided::new(left, &a.1)?, Strided::new(right, &b.1)?)?;
        let shape: Vec<usize> = layout.ne.iter().rev().copied().collect();
        Ok(Floats(tensor(&shape, found)))
    })
}
