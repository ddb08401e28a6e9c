//! Week 1, day 3, task 2: causal mask.

use ndarray::Axis;
use tiny_llm::week1::gqa::{causal_mask, grouped_query_attention};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_close, compare},
    fixtures::random,
};

use super::{OFF, fixtures};

#[track_caller]
fn check_mask(length: usize, keys: usize) {
    fixtures()
        .case(&format!("task_2_causal_mask/{length}x{keys}"))
        .check("output", &causal_mask(length, keys));
}

#[test]
fn task_2_causal_mask_3_by_5() {
    #[rustfmt::skip]
    let expected = tensor(&[3, 5], vec![
        0.0, 0.0, 0.0, OFF, OFF,
        0.0, 0.0, 0.0, 0.0, OFF,
        0.0, 0.0, 0.0, 0.0, 0.0,
    ]);
    let mask = causal_mask(3, 5);
    assert!(
        mask.iter().any(|&x| x != 0.0),
        "causal_mask(3, 5) is all 0, so a token sees the future: for query i, keys after S − L + i \
         must get −inf"
    );
    assert_close("causal_mask(3, 5)", &mask, &expected, 0.0);
    check_mask(3, 5);
}

#[test]
fn task_2_causal_mask_4_by_4() {
    check_mask(4, 4);
}

#[test]
fn task_2_causal_mask_5_by_8() {
    check_mask(5, 8);
}

#[test]
fn task_2_causal_mask_depends_on_both_lengths() {
    let mut earlier = Vec::new();
    for (length, keys) in [(3, 5), (3, 3), (2, 3), (3, 7)] {
        let mask = causal_mask(length, keys);
        let shape = mask.shape();
        assert!(
            shape == [length, keys] || !earlier.iter().any(|call| shape == call),
            "causal_mask({length}, {keys}) has the shape {shape:?} of an earlier call: if you \
             cache masks, use both L and S as the key"
        );
        assert!(
            shape == [length, keys],
            "causal_mask({length}, {keys}): wrong shape {shape:?}, expected [L, S] = [{length}, \
             {keys}]"
        );
        earlier.push([length, keys]);
    }
}

#[test]
fn task_2_causal_mask_of_one_query_hides_nothing() {
    let mask = causal_mask(1, 6);
    assert!(
        mask.iter().all(|&x| x == 0.0),
        "causal_mask(1, 6)\n  found    {mask}\n  expected zeros: a single query is at the last \
         position, so it sees all six keys"
    );
}

#[test]
fn task_2_causal_mask_at_large_sizes() {
    for (length, keys) in [(130, 130), (100, 300), (3, 5000)] {
        let mask = causal_mask(length, keys);
        assert_eq!(
            mask.shape(),
            [length, keys],
            "causal_mask({length}, {keys}): the result has the wrong shape"
        );
        for ((query, key), &found) in
            mask.into_dimensionality::<ndarray::Ix2>().expect("two axes").indexed_iter()
        {
            let position = keys - length + query;
            let expected = if key <= position { 0.0 } else { OFF };
            assert!(
                found == expected,
                "causal_mask({length}, {keys}) at query {query}, key {key}: found {found:?}, \
                 expected {expected:?}: the query is at position {position} and sees every key up \
                 to it"
            );
        }
    }
}

#[test]
fn task_2_causal_mask_with_no_queries() {
    for keys in [3, 0] {
        let call = format!("causal_mask(0, {keys})");
        let mask = assert_accepts(&call, || causal_mask(0, keys));
        assert_eq!(mask.shape(), [0, keys], "{call}: the result must have the shape [L, S]");
    }
}

// These two tests use day 1's masked attention, but test this task's mask.

#[test]
fn task_2_causal_mask_row_0_attends_only_to_itself() {
    let mask = causal_mask(4, 4);
    let (q, k, v) =
        (random(37, &[1, 6, 4, 8]), random(38, &[1, 2, 4, 8]), random(39, &[1, 2, 4, 8]));
    let found = grouped_query_attention(&q, &k, &v, None, Some(&mask)).index_axis_move(Axis(2), 0);
    let expected = v.index_axis(Axis(2), 0).select(Axis(1), &[0, 0, 0, 1, 1, 1]);
    // Without diagnosis: masks that differ only in later rows have the same row 0.
    compare(
        "row 0 of causal attention, compared with V[0] of each key/value head",
        &found,
        &expected,
        0.0,
    )
    .unwrap_or_else(|text| panic!("{text}"));
}

#[test]
fn task_2_causal_mask_hides_future_keys() {
    let mask = causal_mask(3, 5);
    let (q, k, v) =
        (random(40, &[1, 6, 3, 8]), random(41, &[1, 2, 5, 8]), random(42, &[1, 2, 5, 8]));
    let before = grouped_query_attention(&q, &k, &v, None, Some(&mask));
    let (mut other_k, mut other_v) = (k.clone(), v.clone());
    other_k.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 5.0 - 2.0 * x);
    other_v.index_axis_mut(Axis(2), 4).mapv_inplace(|x| 500.0 - 2.0 * x);
    let after = grouped_query_attention(&q, &other_k, &other_v, None, Some(&mask));
    let first_two = |x: &Tensor| x.slice_axis(Axis(2), (..2).into()).to_owned();
    let what = "causal attention of queries 0 and 1 after a change of key 4 and value 4, compared \
                with before";
    assert_agrees(
        what,
        &first_two(&after),
        &first_two(&before),
        0.0,
        "key 4 is in the future of both queries, so it must have no effect",
    );
}
