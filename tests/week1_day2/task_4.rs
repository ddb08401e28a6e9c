//! Week 1, day 2, task 4: explicit positions and the permutation.

use ndarray::{Array2, Ix2, array};
use tiny_llm::week1::rope::{
    RopeForm, RopeTables, half_split_to_interleaved, rope_at_positions, rope_half_split,
    rope_interleaved,
};
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{reshape, swap_axes, tensor, transpose},
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_any_layout, assert_close_because},
    fixtures::random,
};

use super::{Rope, fixtures, long_tables, tables};

#[track_caller]
fn check_positions(case: &str, form: RopeForm) {
    let case = fixtures().case(&format!("task_4_positions/{case}"));
    let positions: Array2<usize> =
        case.integers("positions").into_dimensionality::<Ix2>().expect("two axes");
    case.check("output", &rope_at_positions(&case.tensor("x"), &tables(&case), &positions, form));
}

#[test]
fn task_4_rope_at_positions_interleaved() {
    check_positions("interleaved", RopeForm::Interleaved);
}

#[test]
fn task_4_rope_at_positions_half_split() {
    check_positions("half_split", RopeForm::HalfSplit);
}

#[test]
fn task_4_rope_at_positions_consecutive_matches_offset() {
    let x = random(27, &[2, 3, 4, 8]);
    let positions = Array2::from_shape_fn((2, 4), |(_, l)| 50 + l);
    let tables = long_tables();
    for (form, rope) in
        [(RopeForm::Interleaved, rope_interleaved as Rope), (RopeForm::HalfSplit, rope_half_split)]
    {
        let found = rope_at_positions(&x, &tables, &positions, form);
        // Two products and a sum of values up to 2, which a compiler may fuse in one of the two.
        let what = format!(
            "{form:?} at positions 50 to 53, compared with the function of task 2 or 3 at offset 50"
        );
        assert_agrees(
            &what,
            &found,
            &rope(&x, &tables, 50),
            1e-6,
            "offset 50 means positions 50, 51, 52 and 53",
        );
    }
}

#[test]
fn task_4_rope_at_positions_in_any_layout() {
    let (tables, positions) = (long_tables(), array![[3, 9, 4, 0], [7, 5, 300, 6]]);
    assert_any_layout("rope_at_positions", &random(35, &[2, 3, 4, 8]), 0.0, |x| {
        rope_at_positions(x, &tables, &positions, RopeForm::HalfSplit)
    });
    // The array is stored column by column, as if a batch was built that way.
    let columns = positions.t().as_standard_layout().into_owned().reversed_axes();
    let x = random(36, &[2, 3, 4, 8]);
    for form in [RopeForm::HalfSplit, RopeForm::Interleaved] {
        let what = format!("{form:?} with positions [2, 4] stored column by column in memory");
        let found = assert_accepts(&what, || rope_at_positions(&x, &tables, &columns, form));
        assert_agrees(
            &what,
            &found,
            &rope_at_positions(&x, &tables, &positions, form),
            0.0,
            "row l of sequence b has the position positions[b, l]: use the index, not the memory \
             order",
        );
    }
}

#[test]
fn task_4_permutation_moves_rows_within_their_head() {
    let case = fixtures().case("task_4_permutation/rows");
    case.check("output", &half_split_to_interleaved(&case.tensor("weight"), case.count("n_heads")));
}

#[test]
fn task_4_permutation_in_any_layout() {
    assert_any_layout("half_split_to_interleaved", &random(38, &[3 * 8, 5]), 0.0, |weight| {
        half_split_to_interleaved(weight, 3)
    });
}

#[test]
fn task_4_permutation_preserves_scores() {
    let (x, q_proj, k_proj) =
        (random(29, &[1, 5, 6]), random(30, &[3 * 8, 6]), random(31, &[3 * 8, 6]));
    let permuted = (half_split_to_interleaved(&q_proj, 3), half_split_to_interleaved(&k_proj, 3));
    let tables = long_tables();
    let scores = |rope: Rope, q_proj: &Tensor, k_proj: &Tensor| {
        let heads = |weight: &Tensor| {
            swap_axes(&reshape(&matmul(&x, transpose(weight)), &[1, 5, 3, 8]), 1, 2)
        };
        matmul(&rope(&heads(q_proj), &tables, 90), transpose(&rope(&heads(k_proj), &tables, 90)))
    };
    let found = scores(rope_interleaved, &permuted.0, &permuted.1);
    let expected = scores(rope_half_split, &q_proj, &k_proj);
    // Eight products of numbers up to 24, each off by about ten roundings.
    let what = "scores of permuted weights with interleaved RoPE, compared with the original \
                weights and half-split RoPE";
    assert_agrees(
        what,
        &found,
        &expected,
        3e-3,
        "the permutation converts one form into the other, so the scores must not change",
    );
}

#[test]
fn task_4_rope_at_positions_with_various_batch_shapes() {
    // Position 0 rotates nothing, and position 1 rotates everything by 90°.
    let (heads, size, half) = (12, 128, 64);
    let table =
        |at_0: f32, at_1: f32| Tensor::from_shape_fn(vec![2, half], |at| [at_0, at_1][at[0]]);
    let tables = RopeTables { cos: table(1.0, 0.0), sin: table(0.0, 1.0) };
    for positions in [array![[1]], array![[0, 1, 1]], array![[1, 0], [0, 1]]] {
        let (batch, length) = positions.dim();
        let x = random(37, &[batch, heads, length, size]);
        for (form, pair) in [
            (RopeForm::Interleaved, (|i| (2 * i, 2 * i + 1)) as fn(usize) -> (usize, usize)),
            (RopeForm::HalfSplit, |i| (i, i + 64)),
        ] {
            let mut expected = x.clone();
            for ((b, l), _) in positions.indexed_iter().filter(|(_, p)| **p == 1) {
                for h in 0..heads {
                    for (first, second) in (0..half).map(pair) {
                        expected[[b, h, l, first]] = -x[[b, h, l, second]];
                        expected[[b, h, l, second]] = x[[b, h, l, first]];
                    }
                }
            }
            let what = format!("{form:?}: {heads} heads of size {size} at positions {positions}");
            // Without diagnosis: several mistakes give the same result for a rotation this regular.
            assert_close_because(
                &what,
                &rope_at_positions(&x, &tables, &positions, form),
                &expected,
                0.0,
                "at position 0 nothing is rotated; at position 1 each pair (a, b) becomes (−b, a)",
            );
        }
    }
}

#[test]
fn task_4_permutation_with_1_and_12_heads() {
    for n_heads in [1, 12] {
        let weight = Tensor::from_shape_fn(vec![n_heads * 8, 1], |at| at[0] as f32);
        let rows =
            (0..n_heads).flat_map(|h| [0, 4, 1, 5, 2, 6, 3, 7].map(|row| (h * 8 + row) as f32));
        assert_close_because(
            &format!(
                "half_split_to_interleaved of {n_heads} heads of 8 rows, where each row contains \
                 its index"
            ),
            &half_split_to_interleaved(&weight, n_heads),
            &tensor(&[n_heads * 8, 1], rows.collect()),
            0.0,
            "rows i and i + 4 of each head must become rows 2i and 2i + 1",
        );
    }
}
