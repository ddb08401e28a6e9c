//! Week 1, day 2: RoPE in its two forms.
//!
//! Failures are printed in the order of the names, so the names of a task put the plain cases
//! first.

use ndarray::{Array2, Axis, Ix2, array, concatenate};
use tiny_llm::week1::rope::{
    RopeForm, RopeTables, half_split_to_interleaved, inverse_frequencies, rope_at_positions,
    rope_half_split, rope_interleaved,
};
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{reshape, swap_axes, tensor, transpose},
};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_panics, compare,
    },
    fixtures::{Case, Fixtures, random},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day2")
}

/// The tables of a case, so that no later task depends on task 1.
fn tables(case: &Case) -> RopeTables {
    RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }
}

/// Tables for head size 8 and positions 0 to 319.
fn long_tables() -> RopeTables {
    tables(&fixtures().case("task_2_interleaved/offset"))
}

// Task 1: tables

#[track_caller]
fn check_inverse_frequencies(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_inverse_frequencies/{case}"));
    let found = inverse_frequencies(case.count("head_dim"), case.scalar("base") as f32);
    let (head_dim, n) = (case.count("head_dim"), found.len());
    assert!(
        n < 2 || found.iter().any(|&theta| theta != 1.0),
        "the {n} frequencies at head size {head_dim} are all 1, as if every exponent were 0: a \
         division of whole numbers, such as i / D, rounds down to 0"
    );
    case.check("output", &tensor(&[n], found));
}

#[test]
fn task_1_inverse_frequencies_at_head_size_8() {
    check_inverse_frequencies("8");
}

#[test]
fn task_1_inverse_frequencies_of_three_pairs_and_another_base() {
    check_inverse_frequencies("6");
}

#[test]
fn task_1_inverse_frequencies_of_head_size_64() {
    check_inverse_frequencies("64");
}

#[test]
fn task_1_inverse_frequencies_refuse_an_odd_head_size() {
    assert_panics(
        "inverse_frequencies(7, 10000): head size 7 is odd, so one number has no partner",
        || inverse_frequencies(7, 10_000.0),
    );
}

#[track_caller]
fn check_tables(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_1_tables/{case}"));
    let frequencies = case.tensor("inverse_frequencies").into_raw_vec_and_offset().0;
    let found = RopeTables::new(&frequencies, case.count("n_positions"));
    case.check("cos", &found.cos);
    case.check("sin", &found.sin);
}

#[test]
fn task_1_tables_stay_exact_beyond_position_256() {
    check_tables("long");
}

#[test]
fn task_1_tables_of_three_pairs() {
    check_tables("odd");
}

#[test]
fn task_1_tables_begin_without_a_turn() {
    let tables = RopeTables::new(&[1.0, 0.1], 3);
    let row_0 = |table: &Tensor| table.index_axis(Axis(0), 0).to_owned();
    let found = concatenate(Axis(0), &[row_0(&tables.cos).view(), row_0(&tables.sin).view()])
        .expect("one axis each");
    assert_close(
        "row 0 of cos, then of sin, for two frequencies",
        &found,
        &tensor(&[4], vec![1.0, 1.0, 0.0, 0.0]),
        0.0,
    );
}

#[test]
fn task_1_inverse_frequencies_of_no_pairs() {
    let found =
        assert_accepts("inverse_frequencies(0, 10000)", || inverse_frequencies(0, 10_000.0));
    assert!(found.is_empty(), "inverse_frequencies(0, 10000): found {found:?}, expected none");
}

#[test]
fn task_1_tables_of_other_frequencies() {
    // As two models of one size have them, or a model whose angles are scaled.
    let first = RopeTables::new(&[1.0, 0.1], 5);
    let second = RopeTables::new(&[0.5, 0.01], 5);
    let again = RopeTables::new(&[1.0, 0.1], 5);
    for (what, tables, thetas) in [
        ("the first tables", &first, [1.0, 0.1]),
        ("tables of as many pairs and positions, with other frequencies", &second, [0.5, 0.01]),
        ("tables of the first frequencies again", &again, [1.0, 0.1]),
    ] {
        let expected = Tensor::from_shape_fn(vec![5, 2], |at| (at[0] as f32 * thetas[at[1]]).cos());
        compare(what, &tables.cos, &expected, 1e-6).unwrap_or_else(|text| {
            panic!("{text}\n  cos of p · θ, whatever frequencies an earlier call was given")
        });
    }
}

#[test]
fn task_1_tables_of_no_positions() {
    let tables = assert_accepts("tables of two frequencies for positions 0..0", || {
        RopeTables::new(&[1.0, 0.1], 0)
    });
    assert_eq!(
        (tables.cos.shape(), tables.sin.shape()),
        (&[0, 2][..], &[0, 2][..]),
        "tables for no positions: shapes of cos and sin, [P, D/2]"
    );
}

#[test]
fn task_1_inverse_frequencies_whatever_the_base() {
    for base in [2.0, 500_000.0, 1e7, 1e10] {
        for (i, found) in inverse_frequencies(128, base).into_iter().enumerate() {
            let expected = f64::from(base).powf(-2.0 * i as f64 / 128.0);
            assert!(
                (f64::from(found) - expected).abs() <= 1e-5 * expected,
                "inverse_frequencies(128, {base}), pair {i}: found {found:e}, expected {base}^(−2·{i}/128) = {expected:e}"
            );
        }
    }
}

#[test]
fn task_1_tables_whatever_the_position() {
    // Products of a position and a power of two are exact.
    let thetas = [1.0, 0.5, 1.0 / 1_073_741_824.0];
    let tables = RopeTables::new(&thetas, 10_000);
    assert_eq!((tables.cos.shape(), tables.sin.shape()), (&[10_000, 3][..], &[10_000, 3][..]));
    for p in (0..10_000).step_by(7) {
        for (i, &theta) in thetas.iter().enumerate() {
            let angle = p as f64 * f64::from(theta);
            for (name, found, expected) in
                [("cos", tables.cos[[p, i]], angle.cos()), ("sin", tables.sin[[p, i]], angle.sin())]
            {
                // A rounding or two of the number itself; a sine near 0 may be small and is not 0.
                assert!(
                    (f64::from(found) - expected).abs()
                        <= 1e-6 * expected.abs().max(angle.min(1.0)),
                    "{name} of position {p} · θ {theta:e}: found {found:e}, expected {expected:e}"
                );
            }
        }
    }
}

// Tasks 2 and 3: the two forms

type Rope = fn(&Tensor, &RopeTables, usize) -> Tensor;

/// One of the two functions, and its name, which tells a check of one from the same check of the
/// other.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    rope: Rope,
}

const INTERLEAVED: Form = Form { name: "rope_interleaved", rope: rope_interleaved };
const HALF_SPLIT: Form = Form { name: "rope_half_split", rope: rope_half_split };

#[track_caller]
fn check_form(form: Form, case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    case.check("output", &(form.rope)(&case.tensor("x"), &tables(&case), case.count("offset")));
}

/// Row 0 of every head stands at position 0, where nothing turns.
#[track_caller]
fn check_position_0_is_the_identity(form: Form) {
    let x = random(21, &[2, 3, 4, 8]);
    let rows_0 = |x: &Tensor| x.index_axis(Axis(2), 0).to_owned();
    let what = format!("{}: row 0 of each head of x [2, 3, 4, 8] from position 0 on", form.name);
    assert_close(&what, &rows_0(&(form.rope)(&x, &long_tables(), 0)), &rows_0(&x), 0.0);
}

/// A rotation keeps the length of each pair; `pair(i)` says which two elements of a head of size 8
/// those are.
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

/// The dot product of a query at position p and a key at position s depends on p − s alone.
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
            "{name}: q at {p} · k at {s} is {found}, q at 5 · k at 2 is {expected}: both are 3 \
             positions apart, so they must be equal"
        );
    }
    let other = score(2, 5);
    assert!(
        (other - expected).abs() > 0.01,
        "{name}: q at 2 · k at 5 should differ from q at 5 · k at 2; both are {other}"
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
            "{}: row 5 alone at offset 16, compared with row 5 of six at offset 11",
            form.name
        ),
        &(form.rope)(&alone, &tables, 16),
        &row_5,
        0.0,
        "it stands at position 16 both times, as a single new token does",
    );
    let all = tail(&(form.rope)(&x, &tables, 11));
    let what = format!(
        "{}: rows 4 and 5 alone at offset 15, compared with rows 4 and 5 of six at offset 11",
        form.name
    );
    assert_agrees(
        &what,
        &(form.rope)(&tail(&x), &tables, 15),
        &all,
        0.0,
        "they stand at positions 15 and 16 both times",
    );
}

/// A quarter turn of every pair, in heads of several sizes: `(a, b)` becomes `(−b, a)`.
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
        let what = format!("{}: a quarter turn of three heads of {rows} × {size}", form.name);
        // Without diagnosis: of so even a turn several mistakes make the same.
        compare(&what, &(form.rope)(&x, &tables, 0), &expected, 0.0).unwrap_or_else(|text| {
            panic!("{text}\n  all angles are 90° here, so each pair (a, b) becomes (−b, a)")
        });
    }
}

#[test]
fn task_2_interleaved_turns_every_pair_of_any_head() {
    check_every_pair_turns(INTERLEAVED, |i, _| (2 * i, 2 * i + 1));
}

#[test]
fn task_3_half_split_turns_every_pair_of_any_head() {
    check_every_pair_turns(HALF_SPLIT, |i, half| (i, i + half));
}

#[track_caller]
fn check_any_layout(form: Form) {
    let tables = long_tables();
    assert_any_layout(form.name, &random(34, &[2, 3, 4, 8]), 0.0, |x| (form.rope)(x, &tables, 5));
}

#[track_caller]
fn check_short_tables_are_refused(form: Form) {
    let long = long_tables();
    let first_5 = |table: &Tensor| table.slice_axis(Axis(0), (..5).into()).to_owned();
    let tables = RopeTables { cos: first_5(&long.cos), sin: first_5(&long.sin) };
    let x = random(26, &[3, 8]);
    let what = format!(
        "{}: x [3, 8] at offset 3 needs position 5, with tables that end at position 4",
        form.name
    );
    assert_panics(&what, || (form.rope)(&x, &tables, 3));
}

#[test]
fn task_2_interleaved_at_positions_3_to_7() {
    check_form(INTERLEAVED, "task_2_interleaved/near");
}

#[test]
fn task_2_interleaved_beyond_position_256() {
    check_form(INTERLEAVED, "task_2_interleaved/offset");
}

#[test]
fn task_2_interleaved_with_an_odd_number_of_pairs() {
    check_form(INTERLEAVED, "task_2_interleaved/odd_pairs");
}

#[test]
fn task_2_interleaved_over_two_axes() {
    check_form(INTERLEAVED, "task_2_interleaved/two_axes");
}

#[test]
fn task_2_interleaved_leaves_position_0_alone() {
    check_position_0_is_the_identity(INTERLEAVED);
}

#[test]
fn task_2_interleaved_keeps_the_length_of_each_pair() {
    check_pairs_keep_their_length(INTERLEAVED, |i| (2 * i, 2 * i + 1));
}

#[test]
fn task_2_interleaved_scores_depend_on_the_distance() {
    check_scores_depend_on_the_distance(INTERLEAVED);
}

#[test]
fn task_2_interleaved_offset_is_a_shift() {
    check_an_offset_is_a_shift(INTERLEAVED);
}

/// No rows, or any number of axes before them.
fn check_any_shape(form: Form) {
    let tables = long_tables();
    for shape in [&[2, 3, 0, 8][..], &[0, 8], &[0, 3, 4, 8]] {
        for offset in [0, 5] {
            let what = format!("{} of x {shape:?} at offset {offset}", form.name);
            let found =
                assert_accepts(&what, || (form.rope)(&Tensor::zeros(shape), &tables, offset));
            assert_eq!(found.shape(), shape, "{what}, in which there are no rows: its shape");
        }
    }
    let rows = random(40, &[12, 4, 8]);
    let expected = (form.rope)(&rows, &tables, 7);
    for shape in [&[12, 4, 8][..], &[3, 4, 4, 8], &[3, 2, 2, 4, 8], &[1, 3, 1, 4, 4, 8]] {
        let what = format!("{} of x {shape:?} at offset 7", form.name);
        let found = assert_accepts(&what, || (form.rope)(&reshape(&rows, shape), &tables, 7));
        let property = "all axes but the last two are alike: each [L, D] turns by itself";
        assert_agrees(&what, &found, &reshape(&expected, shape), 0.0, property);
    }
}

#[test]
fn task_2_interleaved_of_any_shape() {
    check_any_shape(INTERLEAVED);
}

#[test]
fn task_3_half_split_of_any_shape() {
    check_any_shape(HALF_SPLIT);
}

#[test]
fn task_2_interleaved_in_any_layout() {
    check_any_layout(INTERLEAVED);
}

#[test]
fn task_2_interleaved_refuses_tables_that_are_too_short() {
    check_short_tables_are_refused(INTERLEAVED);
}

#[test]
fn task_3_half_split_at_positions_3_to_7() {
    check_form(HALF_SPLIT, "task_3_half_split/near");
}

#[test]
fn task_3_half_split_beyond_position_256() {
    check_form(HALF_SPLIT, "task_3_half_split/offset");
}

#[test]
fn task_3_half_split_with_an_odd_number_of_pairs() {
    check_form(HALF_SPLIT, "task_3_half_split/odd_pairs");
}

#[test]
fn task_3_half_split_over_two_axes() {
    check_form(HALF_SPLIT, "task_3_half_split/two_axes");
}

#[test]
fn task_3_half_split_leaves_position_0_alone() {
    check_position_0_is_the_identity(HALF_SPLIT);
}

#[test]
fn task_3_half_split_keeps_the_length_of_each_pair() {
    check_pairs_keep_their_length(HALF_SPLIT, |i| (i, i + 4));
}

#[test]
fn task_3_half_split_scores_depend_on_the_distance() {
    check_scores_depend_on_the_distance(HALF_SPLIT);
}

#[test]
fn task_3_half_split_offset_is_a_shift() {
    check_an_offset_is_a_shift(HALF_SPLIT);
}

#[test]
fn task_3_half_split_in_any_layout() {
    check_any_layout(HALF_SPLIT);
}

#[test]
fn task_3_half_split_refuses_tables_that_are_too_short() {
    check_short_tables_are_refused(HALF_SPLIT);
}

// Task 4: explicit positions and the permutation

#[track_caller]
fn check_positions(case: &str, form: RopeForm) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_4_positions/{case}"));
    let positions: Array2<usize> =
        case.integers("positions").into_dimensionality::<Ix2>().expect("two axes");
    case.check("output", &rope_at_positions(&case.tensor("x"), &tables(&case), &positions, form));
}

#[test]
fn task_4_positions_interleaved() {
    check_positions("interleaved", RopeForm::Interleaved);
}

#[test]
fn task_4_positions_half_split() {
    check_positions("half_split", RopeForm::HalfSplit);
}

#[test]
fn task_4_positions_that_follow_each_other_are_an_offset() {
    let x = random(27, &[2, 3, 4, 8]);
    let positions = Array2::from_shape_fn((2, 4), |(_, l)| 50 + l);
    let tables = long_tables();
    for (form, rope) in
        [(RopeForm::Interleaved, rope_interleaved as Rope), (RopeForm::HalfSplit, rope_half_split)]
    {
        let found = rope_at_positions(&x, &tables, &positions, form);
        // Two products and a sum of values up to 2, which a compiler may fuse in one of the two.
        let what = format!(
            "{form:?} at positions 50 to 53, compared with the function of tasks 2 and 3 at offset \
             50"
        );
        assert_agrees(
            &what,
            &found,
            &rope(&x, &tables, 50),
            1e-6,
            "positions in a row are what an offset gives",
        );
    }
}

#[test]
fn task_4_positions_refuse_what_does_not_fit() {
    let x = random(28, &[2, 1, 3, 8]);
    let tables = long_tables();
    let rope =
        |positions: Array2<usize>| rope_at_positions(&x, &tables, &positions, RopeForm::HalfSplit);
    assert_panics("x [2, 1, 3, 8] with positions [1, 3], which are not [B, L]", || {
        rope(array![[0, 1, 2]])
    });
    assert_panics("x [2, 1, 3, 8] with positions [3, 2], which are not [B, L]", || {
        rope(array![[0, 1], [2, 3], [4, 5]])
    });
    assert_panics("position 320 with tables that end at position 319", || {
        rope(array![[0, 1, 2], [0, 320, 2]])
    });
}

#[test]
fn task_4_positions_in_any_layout() {
    let (tables, positions) = (long_tables(), array![[3, 9, 4, 0], [7, 5, 300, 6]]);
    assert_any_layout("rope_at_positions", &random(35, &[2, 3, 4, 8]), 0.0, |x| {
        rope_at_positions(x, &tables, &positions, RopeForm::HalfSplit)
    });
    // Neighbours in memory are those below each other, as where a batch was put together by
    // columns.
    let columns = positions.t().as_standard_layout().into_owned().reversed_axes();
    let x = random(36, &[2, 3, 4, 8]);
    for form in [RopeForm::HalfSplit, RopeForm::Interleaved] {
        let what = format!("{form:?}, with positions [2, 4] that lie column by column in memory");
        let found = assert_accepts(&what, || rope_at_positions(&x, &tables, &columns, form));
        assert_agrees(
            &what,
            &found,
            &rope_at_positions(&x, &tables, &positions, form),
            0.0,
            "row l of sequence b stands at positions[b, l], wherever that lies in memory",
        );
    }
}

#[test]
fn task_4_positions_of_no_rows() {
    let tables = long_tables();
    for (batch, length) in [(2, 0), (0, 3)] {
        let (x, positions) =
            (Tensor::zeros(vec![batch, 3, length, 8]), Array2::zeros((batch, length)));
        for form in [RopeForm::Interleaved, RopeForm::HalfSplit] {
            let what = format!("{form:?} of x {:?} at positions [{batch}, {length}]", x.shape());
            let found = assert_accepts(&what, || rope_at_positions(&x, &tables, &positions, form));
            assert_eq!(found.shape(), x.shape(), "{what}: its shape");
        }
    }
}

#[test]
fn task_4_permutation_moves_rows_within_their_head() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_permutation/rows");
    case.check("output", &half_split_to_interleaved(&case.tensor("weight"), case.count("n_heads")));
}

#[test]
fn task_4_permutation_in_any_layout() {
    assert_any_layout("half_split_to_interleaved", &random(38, &[3 * 8, 5]), 0.0, |weight| {
        half_split_to_interleaved(weight, 3)
    });
}

#[test]
fn task_4_scores_survive_the_permutation() {
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
    let what =
        "scores of permuted weights in the interleaved form, compared with the half-split form";
    assert_agrees(
        what,
        &found,
        &expected,
        3e-3,
        "the permutation carries one form into the other, and leaves the scores alone",
    );
}

#[test]
fn task_4_positions_whatever_the_size() {
    // Nothing turns at position 0; at position 1 everything turns by 90°.
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
            // Without diagnosis: of so even a turn several mistakes make the same.
            compare(&what, &rope_at_positions(&x, &tables, &positions, form), &expected, 0.0)
                .unwrap_or_else(|text| {
                    panic!("{text}\n  at position 0 nothing turns, at position 1 each pair (a, b) becomes (−b, a)")
                });
        }
    }
}

#[test]
fn task_4_permutation_whatever_the_number_of_heads() {
    for n_heads in [1, 12] {
        let weight = Tensor::from_shape_fn(vec![n_heads * 8, 1], |at| at[0] as f32);
        let rows =
            (0..n_heads).flat_map(|h| [0, 4, 1, 5, 2, 6, 3, 7].map(|row| (h * 8 + row) as f32));
        compare(
            &format!(
                "half_split_to_interleaved of {n_heads} heads of 8 rows, which hold their numbers"
            ),
            &half_split_to_interleaved(&weight, n_heads),
            &tensor(&[n_heads * 8, 1], rows.collect()),
            0.0,
        )
        .unwrap_or_else(|text| panic!("{text}\n  rows i and i + 4 of each head become neighbours"));
    }
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day2.rs"]
mod fresh;
