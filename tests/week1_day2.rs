//! Week 1, day 2: RoPE in its two forms.

use ndarray::Axis;
use tiny_llm::week1::rope::RopeTables;
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{reshape, transpose},
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because},
    fixtures::{Case, Fixtures, random},
};

#[path = "week1_day2/edges.rs"]
mod edges;
/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day2.rs"]
mod fresh;
#[path = "week1_day2/task_1.rs"]
mod task_1;
#[path = "week1_day2/task_2.rs"]
mod task_2;
#[path = "week1_day2/task_3.rs"]
mod task_3;
#[path = "week1_day2/task_4.rs"]
mod task_4;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day2")
}

/// Returns the RoPE tables of a case, so that no later task depends on task 1.
fn tables(case: &Case) -> RopeTables {
    RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }
}

/// Returns RoPE tables for head size 8 and positions 0 to 319.
fn long_tables() -> RopeTables {
    tables(&fixtures().case("task_2_interleaved/offset"))
}

// Tasks 2 and 3: the two forms

type Rope = fn(&Tensor, &RopeTables, usize) -> Tensor;

/// One of RoPE's two forms: its function, and the name that messages use for it.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    rope: Rope,
}

#[track_caller]
fn check_form(form: Form, case: &str) {
    let case = fixtures().case(case);
    case.check("output", &(form.rope)(&case.tensor("x"), &tables(&case), case.count("offset")));
}

/// Checks row 0 of every head. It is at position 0, where nothing is rotated.
#[track_caller]
fn check_position_0_is_the_identity(form: Form) {
    let x = random(21, &[2, 3, 4, 8]);
    let rows_0 = |x: &Tensor| x.index_axis(Axis(2), 0).to_owned();
    let what = format!("{}: row 0 of each head of x [2, 3, 4, 8] at offset 0", form.name);
    assert_close(&what, &rows_0(&(form.rope)(&x, &long_tables(), 0)), &rows_0(&x), 0.0);
}

/// Checks that a rotation keeps the length of each pair. `pair(i)` returns the indices of pair `i`
/// in a head of size 8.
#[track_caller]
fn check_pairs_keep_their_length(form: Form, pair: fn(usize) -> (usize, usize)) {
    let x = random(22, &[5, 8]);
    let length = |x: &Tensor| {
        Tensor::from_shape_fn(vec![5, 4], |at| {
            let (a, b) = pair(at[1]);
            x[[at[0], a]].hypot(x[[at[0], b]])
        })
    };
    let what = format!("{}: lengths of the four pairs at positions 7 to 11", form.name);
    // About six roundings of values up to 2.9.
    assert_close(&what, &length(&(form.rope)(&x, &long_tables(), 7)), &length(&x), 2e-6);
}

/// Checks that the score of a query at position p and a key at s depends only on p − s.
#[track_caller]
fn check_scores_depend_on_the_distance(form: Form) {
    let (q, k) = (random(23, &[1, 8]), random(24, &[1, 8]));
    let (name, tables) = (form.name, long_tables());
    let score = |p, s| {
        matmul(&(form.rope)(&q, &tables, p), transpose(&(form.rope)(&k, &tables, s)))[[0, 0]]
    };
    let expected = score(5, 2);
    for (p, s) in [(3, 0), (203, 200), (303, 300)] {
        let found = score(p, s);
        // Eight products of numbers up to 2.9, each off by about eight roundings.
        assert!(
            (found - expected).abs() <= 3e-5,
            "{name}: q at position {p} · k at position {s} is {found}, but q at 5 · k at 2 is \
             {expected}: both pairs are 3 positions apart, so the products must be equal"
        );
    }
    let other = score(2, 5);
    assert!(
        (other - expected).abs() > 0.01,
        "{name}: q at position 2 · k at position 5 must differ from q at 5 · k at 2, but both are \
         {other}"
    );
}

#[track_caller]
fn check_an_offset_is_a_shift(form: Form) {
    let x = random(25, &[2, 6, 8]);
    let tables = long_tables();
    let tail = |x: &Tensor| x.slice_axis(Axis(1), (4..).into()).to_owned();
    let alone = x.slice_axis(Axis(1), (5..).into()).to_owned();
    let row_5 = (form.rope)(&x, &tables, 11).slice_axis(Axis(1), (5..).into()).to_owned();
    assert_agrees(
        &format!(
            "{}: row 5 alone at offset 16, compared with row 5 of six rows at offset 11",
            form.name
        ),
        &(form.rope)(&alone, &tables, 16),
        &row_5,
        0.0,
        "the row's position is 16 in both calls",
    );
    let all = tail(&(form.rope)(&x, &tables, 11));
    let what = format!(
        "{}: rows 4 and 5 alone at offset 15, compared with rows 4 and 5 of six rows at offset 11",
        form.name
    );
    assert_agrees(
        &what,
        &(form.rope)(&tail(&x), &tables, 15),
        &all,
        0.0,
        "the rows' positions are 15 and 16 in both calls",
    );
}

/// Checks rotations by 90° of every pair, in heads of several sizes: `(a, b)` becomes `(−b, a)`.
#[track_caller]
fn check_every_pair_turns(form: Form, pair: fn(usize, usize) -> (usize, usize)) {
    for (rows, size) in [(1, 2), (1, 6), (1, 8), (1, 64), (1, 128), (130, 4)] {
        let half = size / 2;
        let tables = RopeTables {
            cos: Tensor::zeros(vec![rows, half]),
            sin: Tensor::ones(vec![rows, half]),
        };
        let x = random(36, &[3, rows, size]);
        let mut expected = x.clone();
        for head in 0..3 {
            for row in 0..rows {
                for i in 0..half {
                    let (first, second) = pair(i, half);
                    expected[[head, row, first]] = -x[[head, row, second]];
                    expected[[head, row, second]] = x[[head, row, first]];
                }
            }
        }
        let what = format!("{}: a rotation by 90° of three heads [{rows}, {size}]", form.name);
        // Without diagnosis: several mistakes give the same result for a rotation this regular.
        let why = "all angles are 90° here, so each pair (a, b) becomes (−b, a)";
        assert_close_because(&what, &(form.rope)(&x, &tables, 0), &expected, 0.0, why);
    }
}

#[track_caller]
fn check_any_layout(form: Form) {
    let tables = long_tables();
    assert_any_layout(form.name, &random(34, &[2, 3, 4, 8]), 0.0, |x| (form.rope)(x, &tables, 5));
}

/// Checks inputs without rows, and inputs with any number of leading axes.
fn check_any_shape(form: Form) {
    let tables = long_tables();
    for shape in [&[2, 3, 0, 8][..], &[0, 8], &[0, 3, 4, 8]] {
        for offset in [0, 5] {
            let what = format!("{} of x {shape:?} at offset {offset}", form.name);
            let found =
                assert_accepts(&what, || (form.rope)(&Tensor::zeros(shape), &tables, offset));
            assert_eq!(
                found.shape(),
                shape,
                "{what}: x has no rows, and the result has the wrong shape"
            );
        }
    }
    let rows = random(40, &[12, 4, 8]);
    let expected = (form.rope)(&rows, &tables, 7);
    for shape in [&[12, 4, 8][..], &[3, 4, 4, 8], &[3, 2, 2, 4, 8], &[1, 3, 1, 4, 4, 8]] {
        let what = format!("{} of x {shape:?} at offset 7", form.name);
        let found = assert_accepts(&what, || (form.rope)(&reshape(&rows, shape), &tables, 7));
        let property = "all axes but the last two are batch axes: each [L, D] is rotated \
                        separately";
        assert_agrees(&what, &found, &reshape(&expected, shape), 0.0, property);
    }
}
