//! Week 4, day 1, task 4: a product of views.

use tiny_llm::week4::{layout::Layout, product::mul_mat, strided::Strided};
use tiny_llm_formats::gguf::TensorType::{F16, F32, Q8_0};
use tiny_llm_harness::check::{assert_answer, resting_on};

use super::{PACKED, ROWS, VIEWS, each, four, numbers, stepped, steps, stored, vector};
use tiny_llm_harness::messages::{assert_good, assert_refused};

fn packed(ne: [usize; 4]) -> Layout {
    let [a, b, c, d] = ne;
    let nb = [4, 4 * a, 4 * a * b, 4 * a * b * c];
    assert!(d > 0, "a size");
    Layout { tensor_type: F32, ne, nb, offset: 0 }
}

#[test]
fn task_4_mul_mat_matches_pytorch() {
    each("task_4_product/", |case| {
        resting_on(&[PACKED, VIEWS, ROWS], || {
            let ne = four(case.value("ne"));
            let (layout, found) = if case.name().ends_with("q8_0") {
                let bytes: Vec<u8> = case.integers("bytes").iter().map(|&b| b as u8).collect();
                let blocks = Layout {
                    tensor_type: Q8_0,
                    ne: [64, 3, 1, 1],
                    nb: [34, 68, 204, 204],
                    offset: 0,
                };
                let (rows, right) = stored(&case.tensor("rows"));
                let a = assert_good(case.name(), || Strided::new(blocks, &bytes));
                let b = assert_good(case.name(), || Strided::new(rows, &right));
                assert_good(case.name(), || mul_mat(a, b))
            } else {
                let (left, left_bytes) = stored(&case.tensor("a"));
                let (right, right_bytes) = stored(&case.tensor("b"));
                let a = stepped(case, &steps(case, "a_steps"), left, &left_bytes);
                let b = stepped(case, &steps(case, "b_steps"), right, &right_bytes);
                assert_good(&format!("{}: {:?} and {:?}", case.name(), a.layout, b.layout), || {
                    mul_mat(a, b)
                })
            };
            assert_answer(
                &format!("{}: ne, nb and offset of the product", case.name()),
                &numbers(&layout),
                &numbers(&packed(ne)),
            );
            case.check("output", &vector(&found));
        });
    });
}

/// The next day's graph `Aᵀ(AB)` needs a contiguous copy of the transposed matrix.
#[test]
fn task_4_mul_mat_rejects_noncontiguous_rows() {
    let bytes: Vec<u8> = (0..24u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let a = packed([6, 4, 1, 1]);
    let turned = Layout { ne: [4, 6, 1, 1], nb: [24, 4, 96, 96], ..a };
    let rows = Layout { ne: [4, 3, 1, 1], nb: [4, 16, 48, 48], ..a };
    let in_bytes = |layout| assert_good("a tensor", || Strided::new(layout, &bytes));
    let parts = ["[4, 6, 1, 1]", "[24, 4, 96, 96]"];
    assert_refused("mul_mat with a transposed matrix on the left", &parts, || {
        mul_mat(in_bytes(turned), in_bytes(rows))
    });
    assert_refused("mul_mat with a transposed matrix on the right", &parts, || {
        mul_mat(in_bytes(rows), in_bytes(turned))
    });
    let wide = Layout { ne: [4, 3, 1, 1], nb: [0, 4, 12, 12], ..a };
    assert_refused("one number repeated in a row", &["[4, 3, 1, 1]"], || {
        mul_mat(in_bytes(wide), in_bytes(rows))
    });
}

#[test]
fn task_4_mul_mat_rejects_incompatible_shapes_and_types() {
    let bytes = vec![0; 2 * 3 * 4 * 5 * 4];
    let in_bytes = |layout| assert_good("a tensor", || Strided::new(layout, &bytes));
    for (why, left, right) in [
        ("rows of 1 and of 4", [1, 3, 1, 1], [4, 3, 1, 1]),
        ("rows of 4 and of 5", [4, 3, 1, 1], [5, 3, 1, 1]),
        ("three matrices and two", [4, 2, 3, 1], [4, 2, 2, 1]),
        ("two matrices and one", [4, 2, 2, 1], [4, 2, 1, 1]),
        (
            "two matrices for four: only a single one may be shared by all",
            [4, 1, 2, 1],
            [4, 1, 4, 1],
        ),
    ] {
        let parts = [format!("{left:?}"), format!("{right:?}")];
        assert_refused(&format!("mul_mat of {why}: {left:?} and {right:?}"), &[&parts[0]], || {
            mul_mat(in_bytes(packed(left)), in_bytes(packed(right)))
        });
    }
    let halves = Layout { tensor_type: F16, ne: [4, 3, 1, 1], nb: [2, 8, 24, 24], offset: 0 };
    assert_refused("mul_mat with f16 on the right", &["F16", "F32"], || {
        mul_mat(in_bytes(packed([4, 3, 1, 1])), in_bytes(halves))
    });
}
