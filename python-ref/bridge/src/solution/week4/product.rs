//! Day 1: a product of views.

use super::{
    layout::Layout,
    rust::{product as rust, strided::Strided},
};
use crate::prelude::*;

exports! { fn mul_mat; }

/// Every row of `a` times every row of `b`, each a layout and the bytes in which it lies. The
/// product has PyTorch's order of axes.
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
