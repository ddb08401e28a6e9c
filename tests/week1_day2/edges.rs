//! Week 1, day 2: extreme frequencies, tables that are just long enough, positions past the end of
//! the tables, and pairs that must not affect each other.

use ndarray::{Array2, Axis, array};
use tiny_llm::week1::rope::{
    RopeForm, RopeTables, half_split_to_interleaved, inverse_frequencies, rope_at_positions,
    rope_half_split, rope_interleaved,
};
use tiny_llm_formats::Tensor;
use tiny_llm_harness::{
    check::{assert_accepts, assert_close_because, assert_panics},
    fixtures::random,
};

use super::{Form, long_tables};

#[test]
fn task_1_inverse_frequencies_edge_cases() {
    for (head_dim, base, expected) in [
        (2, 10_000.0, vec![1.0]),
        (8, 1.0, vec![1.0; 4]),
        (4, 0.25, vec![1.0, 2.0]),
        (4, 1e38, vec![1.0, 1e-19]),
    ] {
        let what = format!("inverse_frequencies({head_dim}, {base:e})");
        let found = assert_accepts(&what, || inverse_frequencies(head_dim, base));
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs();
        assert!(
            found.len() == expected.len() && found.iter().zip(&expected).all(near),
            "{what}: found {found:?}, expected {expected:?}, base^(−2i/D)"
        );
    }
    for odd in [7, 1, 3, 127] {
        let what = format!(
            "inverse_frequencies({odd}, 10000): head size {odd} is odd, so one element has no \
             partner"
        );
        assert_panics(&what, || inverse_frequencies(odd, 10_000.0));
    }
}

#[test]
fn task_1_tables_with_zero_negative_or_no_frequencies() {
    // A frequency of 0 rotates nothing, and a negative one rotates backwards.
    let thetas = [0.0, 1.0, -1.0, -0.25, 3.0];
    let tables = RopeTables::new(&thetas, 9);
    for p in 0..9 {
        for (i, theta) in thetas.into_iter().enumerate() {
            let (sin, cos) = (p as f64 * f64::from(theta)).sin_cos();
            let found = [tables.cos[[p, i]], tables.sin[[p, i]]].map(f64::from);
            assert!(
                (found[0] - cos).abs() < 1e-6 && (found[1] - sin).abs() < 1e-6,
                "tables at position {p} for θ = {theta}: found cos and sin {found:?}, expected \
                 {:?}",
                [cos, sin]
            );
        }
    }
    let what = "tables for five positions without frequencies";
    let none = assert_accepts(what, || RopeTables::new(&[], 5));
    assert_eq!(
        (none.cos.shape(), none.sin.shape()),
        (&[5, 0][..], &[5, 0][..]),
        "{what}: cos and sin have the wrong shape"
    );
}

/// Returns the first `n` rows of the long tables.
fn rows_of_tables(n: usize) -> RopeTables {
    let long = long_tables();
    let first = |table: &Tensor| table.slice_axis(Axis(0), (..n).into()).to_owned();
    RopeTables { cos: first(&long.cos), sin: first(&long.sin) }
}

fn check_the_end_of_the_tables(form: Form) {
    let (tables, long) = (rows_of_tables(5), long_tables());
    for (length, offset) in [(5, 0), (1, 4), (3, 2)] {
        let x = random(71, &[2, length, 8]);
        let what = format!(
            "{}: {length} rows at offset {offset}, with tables for positions 0 to 4",
            form.name
        );
        let found = assert_accepts(&what, || (form.rope)(&x, &tables, offset));
        let expected = (form.rope)(&x, &long, offset);
        let why = "the tables are just long enough, but your result differs from the one with \
                   longer tables";
        assert_close_because(&what, &found, &expected, 0.0, why);
    }
    for (length, offset) in [(3, 3), (1, 5), (6, 0), (2, 4), (1, usize::MAX), (3, usize::MAX - 1)] {
        let x = random(71, &[2, length, 8]);
        let what = format!(
            "{}: {length} rows at offset {offset}, but the tables end at position 4",
            form.name
        );
        assert_panics(&what, || (form.rope)(&x, &tables, offset));
    }
}

/// Checks that each pair is rotated separately: its values don't affect other pairs.
fn check_pairs_are_alone(form: Form, pair: fn(usize) -> (usize, usize)) {
    let (x, tables) = (random(72, &[2, 3, 8]), long_tables());
    let before = (form.rope)(&x, &tables, 9);
    for i in 0..4 {
        let (first, second) = pair(i);
        for at in [first, second] {
            let mut lost = x.clone();
            lost[[1, 2, at]] = f32::NAN;
            let found = (form.rope)(&lost, &tables, 9);
            for ((index, found), before) in found.indexed_iter().zip(&before) {
                let of_pair = index[0] == 1 && index[1] == 2 && [first, second].contains(&index[2]);
                assert!(
                    if of_pair { found.is_nan() } else { found == before },
                    "{} of x with a NaN at [1, 2, {at}]: at {:?} found {found}, expected {}: the \
                     NaN may only affect the pair {first}, {second}",
                    form.name,
                    ndarray::Dimension::slice(&index),
                    if of_pair { "NaN".to_owned() } else { before.to_string() }
                );
            }
        }
    }
    for factor in [2f32.powi(100), -2f32.powi(-100), -1.0] {
        let what =
            format!("{0} of {factor:e} · x, compared with {factor:e} · ({0} of x)", form.name);
        let found = (form.rope)(&(&x * factor), &tables, 9);
        let why = "a rotation is linear: a factor of the input is a factor of the result";
        assert_close_because(&what, &found, &(&before * factor), 0.0, why);
    }
}

#[test]
fn task_2_interleaved_at_and_beyond_the_end_of_the_tables() {
    check_the_end_of_the_tables(Form { name: "rope_interleaved", rope: rope_interleaved });
}

#[test]
fn task_2_interleaved_rotates_pairs_independently() {
    let form = Form { name: "rope_interleaved", rope: rope_interleaved };
    check_pairs_are_alone(form, |i| (2 * i, 2 * i + 1));
}

#[test]
fn task_3_half_split_at_and_beyond_the_end_of_the_tables() {
    check_the_end_of_the_tables(Form { name: "rope_half_split", rope: rope_half_split });
}

#[test]
fn task_3_half_split_rotates_pairs_independently() {
    let form = Form { name: "rope_half_split", rope: rope_half_split };
    check_pairs_are_alone(form, |i| (i, i + 4));
}

#[test]
fn task_4_rope_at_positions_in_any_order_within_tables() {
    let (tables, long) = (rows_of_tables(5), long_tables());
    let x = random(73, &[2, 3, 4, 8]);
    let positions = array![[4usize, 0, 4, 2], [3, 3, 1, 0]];
    for (form, rope) in [
        (RopeForm::Interleaved, rope_interleaved as super::Rope),
        (RopeForm::HalfSplit, rope_half_split),
    ] {
        let what = format!("{form:?} at positions {positions}, with tables for positions 0 to 4");
        let found = assert_accepts(&what, || rope_at_positions(&x, &tables, &positions, form));
        for ((b, l), &p) in positions.indexed_iter() {
            let row = |x: &Tensor| x.select(Axis(0), &[b]).select(Axis(2), &[l]);
            assert_close_because(
                &format!(
                    "{what}: row {l} of sequence {b}, compared with the same row alone at offset \
                     {p}"
                ),
                &row(&found),
                &rope(&row(&x), &long, p),
                1e-6,
                "positions may repeat, decrease and differ between sequences",
            );
        }
        for bad in [5, usize::MAX] {
            let mut positions = positions.clone();
            positions[[1, 3]] = bad;
            assert_panics(
                &format!("{form:?} at position {bad}, with tables for positions 0 to 4"),
                || rope_at_positions(&x, &tables, &positions, form),
            );
        }
        for shape in [[1, 4], [2, 1], [4, 2], [2, 5], [2, 3], [1, 8], [3, 4]] {
            let what = format!(
                "{form:?} of x [2, 3, 4, 8] with positions {shape:?}, which are not [B, L]"
            );
            assert_panics(&what, || rope_at_positions(&x, &tables, &Array2::zeros(shape), form));
        }
        for (batch, length) in [(0, 4), (2, 0)] {
            let x = Tensor::zeros(vec![batch, 3, length, 8]);
            let what = format!("{form:?} of x [{batch}, 3, {length}, 8], which has no rows");
            let positions = Array2::zeros((batch, length));
            let found = assert_accepts(&what, || rope_at_positions(&x, &tables, &positions, form));
            assert_eq!(found.shape(), x.shape(), "{what}: the result has the wrong shape");
        }
    }
}

/// Compares bits, because a permutation computes nothing.
#[test]
fn task_4_permutation_copies_values_bit_for_bit() {
    let strange = [-0.0, f32::NAN, f32::INFINITY, f32::from_bits(1), f32::MIN, 0.0, 7.0, -1e-30];
    for (n_heads, width) in [(1, 1), (2, 3), (3, 5)] {
        let weight =
            Tensor::from_shape_fn(vec![8 * n_heads, width], |at| strange[(at[0] + 3 * at[1]) % 8]);
        let found = half_split_to_interleaved(&weight, n_heads);
        for head in 0..n_heads {
            for (to, from) in [0, 4, 1, 5, 2, 6, 3, 7].into_iter().enumerate() {
                for column in 0..width {
                    let found = found[[8 * head + to, column]];
                    let expected = weight[[8 * head + from, column]];
                    assert!(
                        found.to_bits() == expected.to_bits(),
                        "half_split_to_interleaved of {n_heads} heads: row {to} of head {head}, \
                         column {column} is {found:?}, expected {expected:?} from row {from}"
                    );
                }
            }
        }
    }
    let what = "half_split_to_interleaved of a weight [16, 0]";
    let empty = assert_accepts(what, || half_split_to_interleaved(&Tensor::zeros(vec![16, 0]), 2));
    assert_eq!(empty.shape(), [16, 0], "{what}: the result has the wrong shape");
}
