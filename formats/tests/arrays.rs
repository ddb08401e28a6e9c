//! The examples of the book's page on arrays. The page shows the parts between anchors.

use ndarray::{Array2, Axis, array};
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{reshape, swap_axes, tensor, transpose},
};

#[test]
fn a_tensor_has_a_shape_and_values() {
    // ANCHOR: make
    let x = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    assert_eq!(x.shape(), [2, 3]);
    assert_eq!(x.ndim(), 2);
    assert_eq!(x[[1, 2]], 30.0); // row 1, column 2
    // ANCHOR_END: make
}

#[test]
fn reshape_keeps_the_order_of_elements() {
    // ANCHOR: reshape
    let x = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    assert_eq!(reshape(&x, &[3, 2]), tensor(&[3, 2], vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]));
    assert_eq!(swap_axes(&x, 0, 1), tensor(&[3, 2], vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]));
    // ANCHOR_END: reshape
}

#[test]
fn arithmetic_broadcasts_from_the_right() {
    // ANCHOR: broadcast
    let x = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    let row = tensor(&[3], vec![0.0, 0.5, 1.0]);
    assert_eq!(&x + &row, tensor(&[2, 3], vec![1.0, 2.5, 4.0, 10.0, 20.5, 31.0]));
    let column = tensor(&[2, 1], vec![1.0, 10.0]);
    assert_eq!(&x / &column, tensor(&[2, 3], vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0]));
    assert_eq!(&x * 2.0, &x + &x);
    // ANCHOR_END: broadcast
}

#[test]
fn lanes_mut_iterates_along_an_axis() {
    // ANCHOR: lanes
    let mut x = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    let last = Axis(x.ndim() - 1);
    for mut row in x.lanes_mut(last) {
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    assert_eq!(x.sum_axis(last), array![1.0, 1.0].into_dyn());
    // ANCHOR_END: lanes
}

#[test]
fn maps_and_folds_elements() {
    // ANCHOR: elements
    let x = tensor(&[3], vec![-1.0, 0.0, 4.0]);
    assert_eq!(x.mapv(f32::abs), tensor(&[3], vec![1.0, 0.0, 4.0]));
    let largest = x.fold(f32::NEG_INFINITY, |max, &v| max.max(v));
    assert_eq!(largest, 4.0);
    let grid = Tensor::from_shape_fn(vec![2, 3], |at| (10 * at[0] + at[1]) as f32);
    assert_eq!(grid[[1, 2]], 12.0);
    // ANCHOR_END: elements
}

#[test]
fn matmul_multiplies_batches() {
    // ANCHOR: matmul
    let q = Tensor::zeros(vec![2, 6, 3, 8]); // [B, H, L, D]
    let k = Tensor::zeros(vec![2, 6, 5, 8]); // [B, H, S, D]
    assert_eq!(matmul(&q, transpose(&k)).shape(), [2, 6, 3, 5]); // [B, H, L, S]

    let one = Tensor::zeros(vec![2, 1, 5, 8]); // a single head for all six
    assert_eq!(matmul(&q, transpose(&one)).shape(), [2, 6, 3, 5]);
    // ANCHOR_END: matmul
}

#[test]
fn patterns_destructure_shapes() {
    // ANCHOR: shape
    let x = Tensor::zeros(vec![2, 3, 8]);
    let [b, l, e] = *x.shape() else { panic!("expected [B, L, E], got {:?}", x.shape()) };
    assert_eq!((b, l, e), (2, 3, 8));
    // ANCHOR_END: shape
}

#[test]
fn select_returns_rows_by_index() {
    // ANCHOR: select
    let table = tensor(&[3, 2], vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!(
        table.select(Axis(0), &[2, 0, 2]),
        tensor(&[3, 2], vec![2.0, 2.5, 0.0, 0.5, 2.0, 2.5])
    );
    let tokens: Array2<u32> = array![[7, 1], [4, 0]]; // two axes, known to the compiler
    assert_eq!(tokens.dim(), (2, 2));
    assert_eq!(tokens[[1, 0]], 4);
    // ANCHOR_END: select
}

#[test]
fn broadcast_repeats_a_mask() {
    // ANCHOR: broadcast_to
    let mask = Tensor::zeros(vec![3, 5]); // [L, S]
    let full = mask.broadcast(vec![2, 6, 3, 5]).expect("the last two axes agree").to_owned();
    assert_eq!(full.shape(), [2, 6, 3, 5]);
    assert!(mask.broadcast(vec![2, 6, 5, 3]).is_none());
    // ANCHOR_END: broadcast_to
}
