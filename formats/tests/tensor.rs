//! Compares the tensor operations with simple loops.

use std::{panic, sync::Mutex};

use ndarray::{ArrayViewD, Axis, Dimension, IxDyn};
use proptest::prelude::*;
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{broadcast_shape, reshape, swap_axes, tensor, transpose},
};
use tiny_llm_harness::{check::assert_close, fixtures::random};

/// Computes the product of `matmul` one number at a time, in f64.
fn naive(a: &ArrayViewD<f32>, b: &ArrayViewD<f32>) -> Tensor {
    let (na, nb) = (a.ndim(), b.ndim());
    let (m, k, n) = (a.shape()[na - 2], a.shape()[na - 1], b.shape()[nb - 1]);
    let lead = broadcast_shape(&a.shape()[..na - 2], &b.shape()[..nb - 2])
        .expect("leading axes broadcast");
    let shape = |tail: [usize; 2]| IxDyn(&[&lead[..], &tail].concat());
    let (a, b) =
        (a.broadcast(shape([m, k])).expect("fits"), b.broadcast(shape([k, n])).expect("fits"));
    Tensor::from_shape_fn(shape([m, n]), |at| {
        let (lead, [i, j]) = at.slice().split_at(at.ndim() - 2) else {
            unreachable!("split leaves two")
        };
        let term = |x| {
            f64::from(a[&[lead, &[*i, x]].concat()[..]])
                * f64::from(b[&[lead, &[x, *j]].concat()[..]])
        };
        (0..k).map(term).sum::<f64>() as f32
    })
}

#[track_caller]
fn check(a: &[usize], b: &[usize]) {
    let (x, y) = (random(1, a), random(2, b));
    // A sum of K products, each at most 4, is rounded about K times.
    let k = a[a.len() - 1] as f32;
    assert_close(
        &format!("{a:?} × {b:?}"),
        &matmul(&x, &y),
        &naive(&x.view(), &y.view()),
        k * k * 4.0 * f32::EPSILON,
    );
}

#[test]
fn matmul_matches_the_triple_loop() {
    check(&[3, 4], &[4, 5]);
    check(&[1, 1], &[1, 1]);
    check(&[2, 3, 4, 5], &[2, 3, 5, 2]);
}

#[test]
fn matmul_broadcasts_leading_axes() {
    check(&[2, 3, 4], &[4, 5]);
    check(&[3, 4], &[2, 4, 5]);
    check(&[2, 1, 3, 4], &[1, 5, 4, 2]);
    check(&[2, 3, 4, 5], &[3, 5, 2]);
}

#[test]
fn matmul_returns_zeros_for_empty_axes() {
    for (a, b, shape) in [
        (vec![0, 4], vec![4, 5], vec![0, 5]),
        (vec![3, 0], vec![0, 5], vec![3, 5]),
        (vec![3, 4], vec![4, 0], vec![3, 0]),
        (vec![2, 3, 0], vec![2, 0, 5], vec![2, 3, 5]),
        (vec![0, 3, 4], vec![0, 4, 5], vec![0, 3, 5]),
        (vec![0, 3, 4], vec![4, 5], vec![0, 3, 5]),
        (vec![0, 3, 4], vec![1, 4, 5], vec![0, 3, 5]),
    ] {
        let product = matmul(&random(3, &a), &random(4, &b));
        assert_close(&format!("{a:?} × {b:?}"), &product, &Tensor::zeros(IxDyn(&shape)), 0.0);
    }
}

#[test]
fn matmul_of_columns_returns_row_major() {
    // `[6, 1]` and `[1, 5]` are column-major and row-major at once.
    let (x, w) = (random(8, &[2, 3, 1]), random(9, &[5, 1]));
    let product = matmul(&x, transpose(&w));
    assert!(product.is_standard_layout());
    assert_close("x [2, 3, 1] × wᵀ [1, 5]", &product, &naive(&x.view(), &transpose(&w)), 1e-5);
}

#[test]
fn matmul_accepts_views_in_any_layout() {
    let (x, w) = (random(5, &[2, 3, 4]), random(6, &[5, 4]));
    let expected = naive(&x.view(), &transpose(&w));
    assert_close("x × wᵀ", &matmul(&x, transpose(&w)), &expected, 1e-5);

    let k = random(7, &[2, 6, 4]);
    assert_close(
        "q × kᵀ, batched",
        &matmul(&x, transpose(&k)),
        &naive(&x.view(), &transpose(&k)),
        1e-5,
    );
    assert_close("xᵀ × x", &matmul(transpose(&x), &x), &naive(&transpose(&x), &x.view()), 1e-5);

    let mut reversed = w.clone();
    reversed.invert_axis(Axis(0));
    assert_close(
        "negative strides",
        &matmul(&x, transpose(&reversed)),
        &naive(&x.view(), &transpose(&reversed)),
        1e-5,
    );

    let every_other = x.slice_each_axis(|axis| {
        ndarray::Slice::new(0, None, if axis.axis == Axis(1) { 2 } else { 1 })
    });
    assert_close(
        "every other row",
        &matmul(every_other.clone(), transpose(&w)),
        &naive(&every_other, &transpose(&w)),
        1e-5,
    );
}

#[test]
fn matmul_propagates_nan() {
    let mut x = random(8, &[2, 3]);
    x[[1, 2]] = f32::NAN;
    let y = matmul(&x, &random(9, &[3, 2]));
    let finite: Vec<_> =
        y.rows().into_iter().map(|row| row.iter().all(|v| v.is_finite())).collect();
    assert_eq!(finite, [true, false], "{y}");
}

#[test]
fn reshape_reads_any_layout_in_row_major_order() {
    let x = tensor(&[2, 3], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_close(
        "[2, 3] to [3, 2]",
        &reshape(&x, &[3, 2]),
        &tensor(&[3, 2], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        0.0,
    );
    let columns = swap_axes(&x, 0, 1);
    assert_close(
        "swapped, then flat",
        &reshape(&columns, &[6]),
        &tensor(&[6], vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
        0.0,
    );
    let owned_in_fortran_order = x.clone().permuted_axes(IxDyn(&[1, 0]));
    assert!(!owned_in_fortran_order.is_standard_layout());
    assert_close(
        "permuted, then flat",
        &reshape(&owned_in_fortran_order, &[6]),
        &reshape(&columns, &[6]),
        0.0,
    );
    assert_eq!(reshape(&random(16, &[2, 0, 3]), &[0, 7]).shape(), [0, 7]);
}

/// A learner needs the location of the wrong call, not one in this crate.
#[test]
fn panics_describe_the_mistake_and_its_location() {
    static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let usual = panic::take_hook();
    let this_thread = std::thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == this_thread {
            let at = info.location().expect("a location").file();
            let message = info.payload().downcast_ref::<String>().expect("a message");
            FOUND.lock().expect("no panic while locked").push(format!("{at}: {message}"));
        } else {
            usual(info);
        }
    }));
    let (x, y) = (random(20, &[2, 3]), random(21, &[3, 4, 5]));
    type Mistake = fn(&Tensor, &Tensor) -> Tensor;
    let mistakes: [(&str, Mistake); 7] = [
        ("matmul: inner sizes differ, [2, 3] × [2, 3] (3 ≠ 2)", |x, _| matmul(x, x)),
        ("matmul needs at least two axes on each side: [3, 2] × [60]", |x, y| {
            matmul(&swap_axes(x, 0, 1), &reshape(y, &[60]))
        }),
        ("matmul: leading axes of [3, 4, 5] and [2, 5, 5] do not broadcast", |_, y| {
            matmul(y, transpose(&random(22, &[2, 5, 5])))
        }),
        ("matmul needs at least two axes on each side: [60] × [2, 3]", |x, y| {
            matmul(&reshape(y, &[60]), x)
        }),
        ("cannot reshape [2, 3] (6 elements) to [4, 2] (8 elements)", |x, _| reshape(x, &[4, 2])),
        ("swap_axes: found axes 1 and 2, expected axes below 2 for shape [2, 3]", |x, _| {
            swap_axes(x, 1, 2)
        }),
        ("a tensor of shape [2, 3] has 6 values, but 5 were given", |_, _| {
            tensor(&[2, 3], vec![0.0; 5])
        }),
    ];
    for (_, mistake) in mistakes {
        assert!(panic::catch_unwind(panic::AssertUnwindSafe(|| mistake(&x, &y))).is_err());
    }
    let _ = panic::take_hook();
    let found = FOUND.lock().expect("no panic while locked");
    assert_eq!(found.len(), mistakes.len());
    for (found, (expected, _)) in found.iter().zip(mistakes) {
        assert!(found.ends_with(&format!("tests/tensor.rs: {expected}")), "{found}");
    }
}

#[test]
fn swap_axes_and_transpose_move_elements() {
    let x = random(18, &[2, 3, 4]);
    let swapped = swap_axes(&x, 0, 2);
    assert!(swapped.is_standard_layout());
    for ((b, m, n), &value) in
        x.view().into_dimensionality::<ndarray::Ix3>().expect("three axes").indexed_iter()
    {
        assert!(swapped[[n, m, b]] == value && transpose(&x)[[b, n, m]] == value);
    }
}

#[test]
fn shapes_broadcast_from_the_right() {
    for (a, b, expected) in [
        (&[2, 3][..], &[2, 3][..], Some(vec![2, 3])),
        (&[], &[4], Some(vec![4])),
        (&[5, 1], &[3], Some(vec![5, 3])),
        (&[2, 1, 4], &[3, 1], Some(vec![2, 3, 4])),
        (&[0], &[1], Some(vec![0])),
        (&[0], &[2], None),
        (&[2, 3], &[2], None),
    ] {
        assert_eq!(broadcast_shape(a, b), expected, "{a:?} with {b:?}");
        assert_eq!(broadcast_shape(b, a), expected, "{b:?} with {a:?}");
    }
}

/// Generates the shapes of two factors. Leading axes may be 1 in either, or missing in the first.
fn shapes() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    let lead = prop::collection::vec((1usize..4, 0u8..3), 0..3);
    (lead, 0usize..6, 0usize..6, 0usize..6, 0usize..3).prop_map(|(lead, m, k, n, missing)| {
        let side = |one: u8| {
            lead.iter()
                .map(|&(size, which)| if which == one { 1 } else { size })
                .collect::<Vec<_>>()
        };
        let (mut a, b) = (side(1), side(2));
        a.drain(..missing.min(a.len()));
        ([a, vec![m, k]].concat(), [b, vec![k, n]].concat())
    })
}

proptest! {
    #[test]
    fn matmul_of_random_shapes_matches_the_triple_loop((a, b) in shapes(), seed in any::<u64>()) {
        let (x, y) = (random(seed, &a), random(!seed, &b));
        let product = matmul(&x, &y);
        prop_assert_eq!(tiny_llm_harness::check::compare("product", &product, &naive(&x.view(), &y.view()), 1e-5), Ok(()));
    }
}
