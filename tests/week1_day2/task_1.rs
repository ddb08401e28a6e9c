//! Week 1, day 2, task 1: tables.

use ndarray::{Axis, concatenate};
use tiny_llm::week1::rope::{RopeTables, inverse_frequencies};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::check::{assert_accepts, assert_close, assert_close_because};

use super::fixtures;

#[track_caller]
fn check_inverse_frequencies(case: &str) {
    let case = fixtures().case(&format!("task_1_inverse_frequencies/{case}"));
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
fn task_1_inverse_frequencies_at_head_size_6() {
    check_inverse_frequencies("6");
}

#[test]
fn task_1_inverse_frequencies_at_head_size_64() {
    check_inverse_frequencies("64");
}

#[track_caller]
fn check_tables(case: &str) {
    let case = fixtures().case(&format!("task_1_tables/{case}"));
    let frequencies = case.tensor("inverse_frequencies").into_raw_vec_and_offset().0;
    let found = RopeTables::new(&frequencies, case.count("n_positions"));
    case.check("cos", &found.cos);
    case.check("sin", &found.sin);
}

#[test]
fn task_1_tables_are_accurate_beyond_position_256() {
    check_tables("long");
}

#[test]
fn task_1_tables_of_three_pairs() {
    check_tables("odd");
}

#[test]
fn task_1_tables_position_0_is_the_identity() {
    let tables = RopeTables::new(&[1.0, 0.1], 3);
    let row_0 = |table: &Tensor| table.index_axis(Axis(0), 0).to_owned();
    let found = concatenate(Axis(0), &[row_0(&tables.cos).view(), row_0(&tables.sin).view()])
        .expect("one axis each");
    assert_close(
        "row 0 of cos and row 0 of sin, for two frequencies",
        &found,
        &tensor(&[4], vec![1.0, 1.0, 0.0, 0.0]),
        0.0,
    );
}

#[test]
fn task_1_inverse_frequencies_at_head_size_0_is_empty() {
    let found =
        assert_accepts("inverse_frequencies(0, 10000)", || inverse_frequencies(0, 10_000.0));
    assert!(found.is_empty(), "inverse_frequencies(0, 10000): found {found:?}, expected none");
}

#[test]
fn task_1_tables_are_independent_of_earlier_calls() {
    // Two models of the same size may have different frequencies.
    let first = RopeTables::new(&[1.0, 0.1], 5);
    let second = RopeTables::new(&[0.5, 0.01], 5);
    let again = RopeTables::new(&[1.0, 0.1], 5);
    for (what, tables, thetas) in [
        ("tables for frequencies 1 and 0.1", &first, [1.0, 0.1]),
        ("tables for frequencies 0.5 and 0.01, of the same shape", &second, [0.5, 0.01]),
        ("tables for frequencies 1 and 0.1 again", &again, [1.0, 0.1]),
    ] {
        let expected = Tensor::from_shape_fn(vec![5, 2], |at| (at[0] as f32 * thetas[at[1]]).cos());
        let why = "expected cos(p · θ): tables must not depend on the frequencies of earlier calls";
        assert_close_because(what, &tables.cos, &expected, 1e-6, why);
    }
}

#[test]
fn task_1_tables_with_no_positions() {
    let tables = assert_accepts("tables for two frequencies and 0 positions", || {
        RopeTables::new(&[1.0, 0.1], 0)
    });
    assert_eq!(
        (tables.cos.shape(), tables.sin.shape()),
        (&[0, 2][..], &[0, 2][..]),
        "tables for two frequencies and 0 positions: cos and sin must have the shape [P, D/2]"
    );
}

#[test]
fn task_1_inverse_frequencies_with_various_bases() {
    for base in [2.0, 500_000.0, 1e7, 1e10] {
        for (i, found) in inverse_frequencies(128, base).into_iter().enumerate() {
            let expected = f64::from(base).powf(-2.0 * i as f64 / 128.0);
            assert!(
                (f64::from(found) - expected).abs() <= 1e-5 * expected,
                "inverse_frequencies(128, {base}), pair {i}: found {found:e}, expected \
                 {base}^(−2·{i}/128) = {expected:e}"
            );
        }
    }
}

#[test]
fn task_1_tables_are_accurate_up_to_position_9999() {
    // Products of a position and a power of two are exact.
    let thetas = [1.0, 0.5, 1.0 / 1_073_741_824.0];
    let tables = RopeTables::new(&thetas, 10_000);
    assert_eq!(
        (tables.cos.shape(), tables.sin.shape()),
        (&[10_000, 3][..], &[10_000, 3][..]),
        "shapes of cos and sin for 10,000 positions and three frequencies"
    );
    for p in (0..10_000).step_by(7) {
        for (i, &theta) in thetas.iter().enumerate() {
            let angle = p as f64 * f64::from(theta);
            for (name, found, expected) in
                [("cos", tables.cos[[p, i]], angle.cos()), ("sin", tables.sin[[p, i]], angle.sin())]
            {
                // One or two roundings of the number itself. A sine near 0 is small, but not 0.
                assert!(
                    (f64::from(found) - expected).abs()
                        <= 1e-6 * expected.abs().max(angle.min(1.0)),
                    "{name} at position {p} for θ = {theta:e}: found {found:e}, expected \
                     {expected:e}"
                );
            }
        }
    }
}
