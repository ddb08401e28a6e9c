//! The `Tensor` of week 1, and the operations on it that `ndarray` lacks.

use ndarray::{
    Array2, ArrayD, ArrayView2, ArrayViewD, ArrayViewMut2, Axis, Dimension, IxDyn,
    linalg::general_mat_mul,
};

/// A dense f32 array with any number of axes. Shapes are written in brackets, with the slowest axis
/// first: `[B, H, L, D]`.
pub type Tensor = ArrayD<f32>;

/// Creates a tensor from its shape and its values in row-major order.
///
/// # Panics
/// If the number of values is not the product of the shape.
#[must_use]
#[track_caller]
pub fn tensor(shape: &[usize], values: Vec<f32>) -> Tensor {
    let n = values.len();
    let Ok(tensor) = Tensor::from_shape_vec(IxDyn(shape), values) else {
        panic!(
            "a tensor of shape {shape:?} has {} values, but {n} were given",
            shape.iter().product::<usize>()
        );
    };
    tensor
}

/// Returns a tensor of this shape with the numbers of `x`, in row-major order. Unlike `ndarray`'s
/// own reshape, accepts any memory layout (as after `swap_axes`). Always copies the numbers.
///
/// # Panics
/// If the two shapes have different numbers of elements.
#[must_use]
#[track_caller]
pub fn reshape(x: &Tensor, shape: &[usize]) -> Tensor {
    let Ok(reshaped) = x.to_shape(IxDyn(shape)) else {
        let (from, n, to) = (x.shape(), x.len(), shape.iter().product::<usize>());
        panic!("cannot reshape {from:?} ({n} elements) to {shape:?} ({to} elements)");
    };
    reshaped.into_owned()
}

/// Returns `x` with axes `a` and `b` exchanged. Unlike a reshape, this changes the order of the
/// elements.
///
/// # Panics
/// If `x` has no such axes.
#[must_use]
#[track_caller]
pub fn swap_axes(x: &Tensor, a: usize, b: usize) -> Tensor {
    assert!(
        a.max(b) < x.ndim(),
        "swap_axes: found axes {a} and {b}, expected axes below {} for shape {:?}",
        x.ndim(),
        x.shape()
    );
    let mut view = x.view();
    view.swap_axes(a, b);
    view.as_standard_layout().into_owned()
}

/// Returns a view of `x` with its last two axes exchanged: `[…, M, N] → […, N, M]`. Nothing is
/// copied.
///
/// # Panics
/// If `x` has fewer than two axes.
#[must_use]
#[track_caller]
pub fn transpose(x: &Tensor) -> ArrayViewD<'_, f32> {
    assert!(x.ndim() >= 2, "transpose needs at least two axes, but x has shape {:?}", x.shape());
    let mut view = x.view();
    view.swap_axes(x.ndim() - 2, x.ndim() - 1);
    view
}

/// Computes the batched matrix product `[…, M, K] × […, K, N] → […, M, N]`. The leading axes
/// broadcast as in NumPy.
///
/// It is computed as a series of 2-D products. If `b` is a single matrix, all rows of `a` are
/// multiplied in one product `[rows, K] × [K, N]`. Otherwise both sides are broadcast to the common
/// leading shape (as views with stride 0, without a copy) and each pair of matrices is multiplied
/// in turn.
///
/// Transposing a side costs nothing, because [`transpose`] returns a view: `matmul(x,
/// transpose(weight))`.
///
/// # Panics
/// If a side has fewer than two axes, the inner sizes differ, or the leading axes do not broadcast.
#[must_use]
#[track_caller]
pub fn matmul<'a, 'b>(
    a: impl Into<ArrayViewD<'a, f32>>,
    b: impl Into<ArrayViewD<'b, f32>>,
) -> Tensor {
    let (a, b) = (a.into(), b.into());
    let (sa, sb) = (a.shape().to_vec(), b.shape().to_vec());
    assert!(
        sa.len() >= 2 && sb.len() >= 2,
        "matmul needs at least two axes on each side: {sa:?} × {sb:?}"
    );
    let (lead_a, [m, k]) = sa.split_at(sa.len() - 2) else { unreachable!("split leaves two") };
    let (lead_b, [k_b, n]) = sb.split_at(sb.len() - 2) else { unreachable!("split leaves two") };
    assert!(k == k_b, "matmul: inner sizes differ, {sa:?} × {sb:?} ({k} ≠ {k_b})");

    if lead_b.is_empty() {
        let rows = lead_a.iter().product::<usize>() * m;
        let a = a.to_shape((rows, *k)).expect("rows × K covers a");
        let b: ArrayView2<f32> = b.into_dimensionality().expect("b has two axes");
        // `a.dot(&b)` would return a column-major product if both sides are column-major (as a
        // single column is).
        let mut product = Array2::zeros((rows, *n));
        general_mat_mul(1.0, &a, &b, 0.0, &mut product);
        return product
            .into_shape_with_order(IxDyn(&[lead_a, &[*m, *n]].concat()))
            .expect("a product is contiguous");
    }

    let Some(lead) = broadcast_shape(lead_a, lead_b) else {
        panic!("matmul: leading axes of {sa:?} and {sb:?} do not broadcast");
    };
    let batch = lead.iter().product::<usize>();
    let a = a.broadcast(IxDyn(&[&lead[..], &[*m, *k]].concat())).expect("checked above");
    let b = b.broadcast(IxDyn(&[&lead[..], &[*k, *n]].concat())).expect("checked above");
    let mut out = Tensor::zeros(IxDyn(&[batch, *m, *n]));
    for (i, index) in ndarray::indices(IxDyn(&lead)).into_iter().enumerate() {
        let a = matrix_at(&a, index.slice());
        let b = matrix_at(&b, index.slice());
        let mut out: ArrayViewMut2<f32> =
            out.index_axis_mut(Axis(0), i).into_dimensionality().expect("two axes are left");
        general_mat_mul(1.0, &a, &b, 0.0, &mut out);
    }
    out.into_shape_with_order(IxDyn(&[&lead[..], &[*m, *n]].concat())).expect("out is contiguous")
}

/// Returns the shape that two shapes broadcast to, or `None` if they do not broadcast. As in NumPy,
/// the shapes are aligned at the right, and each pair of sizes must be equal unless one of them is
/// 1.
#[must_use]
pub fn broadcast_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let n = a.len().max(b.len());
    let size = |s: &[usize], i: usize| if i + s.len() < n { 1 } else { s[i + s.len() - n] };
    (0..n)
        .map(|i| match (size(a, i), size(b, i)) {
            (x, y) if x == y => Some(x),
            (1, x) | (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

fn matrix_at<'a>(x: &'a ArrayViewD<'_, f32>, lead: &[usize]) -> ArrayView2<'a, f32> {
    let mut view = x.view();
    for &i in lead {
        view.index_axis_inplace(Axis(0), i);
    }
    view.into_dimensionality().expect("two axes are left")
}
