//! Week 4, day 6, task 2: tokens grouped by expert, and their products.

use tiny_llm::{
    week2::{kernels::Rung, matrix::Matrix, plan::Plan},
    week4::mixture::grouped::{Gathered, combine, group, indexed_matmul},
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_panics, resting_on},
    fixtures::Case,
};

use super::{GROUPS, each, numbers, plan};

#[test]
pub(crate) fn task_2_group_lists_assignments_by_expert() {
    each("task_2_group/", |case| {
        let found = group(&case.read::<Vec<usize>>("chosen"), case.count("experts"));
        let what = format!("{}: assignments {:?}", case.name(), case.read::<Vec<usize>>("chosen"));
        assert_answer(
            &format!("{what}: starts"),
            &found.starts,
            &case.read::<Vec<usize>>("starts"),
        );
        assert_answer(
            &format!("{what}: members"),
            &found.members,
            &case.read::<Vec<usize>>("members"),
        );
    });
}

/// With this many choices, an unstable sort changes the order of equal ones.
#[test]
fn task_2_group_is_stable_for_200_assignments() {
    let chosen: Vec<usize> = (0..200).map(|a| a * a % 7 % 3).collect();
    let found = group(&chosen, 4);
    let of = |expert| (0..200).filter(|&a| chosen[a] == expert).collect::<Vec<usize>>();
    let expected = [of(0), of(1), of(2), of(3)];
    let mut starts = vec![0];
    expected.iter().for_each(|list| starts.push(starts[starts.len() - 1] + list.len()));
    assert_answer("200 assignments to 3 of 4 experts: starts", &found.starts, &starts);
    assert_answer("200 assignments to 3 of 4 experts", &found.members, &expected.concat());
}

#[test]
fn task_2_group_panics_on_invalid_expert() {
    assert_panics("group with expert 4 of 4", || group(&[0, 4], 4));
}

/// Returns a case's experts, a matrix each.
fn stack(case: &Case) -> Vec<Matrix> {
    let [n, rows, cols] = ["experts", "rows", "cols"].map(|name| case.count(name));
    let all = match case.get("stack") {
        Some(values) => Matrix::from_f32(n * rows, cols, &numbers(&values)),
        None => {
            let bytes: Vec<u8> = case.integers("bytes").iter().map(|&b| b as u8).collect();
            Matrix::new(n * rows, cols, TensorType::Q8_0, bytes.into()).expect("whole rows")
        }
    };
    all.split(n).expect("as many rows for each")
}

#[test]
fn task_2_indexed_matmul_matches_pytorch() {
    resting_on(&[GROUPS], || {
        // Contents left by an earlier, larger product.
        let mut work = Gathered { output: vec![9.0; 4096], ..Gathered::default() };
        work.input.resize(40, 30);
        each("task_2_product/", |case| {
            let (stack, chosen) = (stack(case), case.read::<Vec<usize>>("chosen"));
            let groups = group(&chosen, stack.len());
            let mut out = vec![f32::NAN; chosen.len() * stack[0].rows];
            let x = case.numbers("x");
            let bytes = indexed_matmul(&stack, &groups, &x, &plan(), &mut work, &mut out);
            case.check("output", &tensor(&[chosen.len(), stack[0].rows], out));
            let what = format!("{}: bytes of weights read", case.name());
            assert_answer(&what, &bytes, &case.count("bytes"));
        });
    });
}

/// Blocks of 256 weights need activations with one scale for 256 values. The result is close to
/// that with f32 activations.
#[test]
fn task_2_indexed_matmul_with_q4_k_weights() {
    resting_on(&[GROUPS], || {
        let (rows, cols) = (4, 512);
        let block = |i: usize| {
            let mut bytes: Vec<u8> = (0..144).map(|j| (i * 89 + j * j * 7 + j / 3) as u8).collect();
            // The two f16 scales of each block are small numbers.
            bytes[..4].copy_from_slice(&[0x1f, 0x21, 0x0a, 0x1c]);
            bytes
        };
        let bytes: Vec<u8> = (0..3 * rows * cols / 256).flat_map(block).collect();
        let all = Matrix::new(3 * rows, cols, TensorType::Q4_K, bytes.into()).expect("whole rows");
        let stack = all.split(3).expect("as many rows for each");
        let groups = group(&[2, 0, 0, 2], 3);
        let x: Vec<f32> = (0..2 * cols).map(|i| ((i * i) % 31) as f32 / 15.0 - 1.0).collect();
        let product = |rung: Rung| {
            let plan = Plan { kernels: rung.into(), ..plan() };
            let mut out = vec![f32::NAN; 4 * rows];
            indexed_matmul(&stack, &groups, &x, &plan, &mut Gathered::default(), &mut out);
            out
        };
        let [found, expected] = [Rung::Integer, Rung::Naive].map(product);
        let largest = expected.iter().fold(0.0, |max: f32, y| max.max(y.abs()));
        for (a, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (found - expected).abs() < 0.01 * largest,
                "Q4_K, output {a}: found {found} with 8-bit activations, expected about \
                 {expected}, the result with f32 activations"
            );
        }
    });
}

/// Buffers that are large enough are reused, so that a decoded token allocates nothing.
#[test]
fn task_2_indexed_matmul_reuses_its_buffers() {
    resting_on(&[GROUPS], || {
        let stack = vec![Matrix::from_f32(2, 3, &[0.5; 6]); 4];
        let groups = group(&[0, 3, 1, 2], 4);
        let mut work = Gathered::default();
        let mut room = || {
            let mut out = vec![0.0; 8];
            indexed_matmul(&stack, &groups, &[1.0; 12], &plan(), &mut work, &mut out);
            work.output.as_ptr()
        };
        let [first, second] = [room(), room()];
        assert!(
            first == second,
            "a second product of the same size allocates `work.output` again. Reuse the buffer of \
             the first call"
        );
    });
}

/// A call may need more room than the call before it.
#[test]
fn task_2_indexed_matmul_grows_its_buffers() {
    resting_on(&[GROUPS], || {
        let stack = [1.0, 2.0, 3.0, 4.0].map(|weight| Matrix::from_f32(2, 3, &[weight; 6]));
        let mut work = Gathered::default();
        let mut before = "new buffers";
        for chosen in [&[2][..], &[1, 3, 1, 0, 1, 1]] {
            let groups = group(chosen, 4);
            let x: Vec<f32> = (1..=chosen.len()).flat_map(|row| [row as f32; 3]).collect();
            let mut out = vec![f32::NAN; 2 * chosen.len()];
            let call = format!("indexed_matmul for experts {chosen:?}, with {before}");
            assert_accepts(&call, || {
                indexed_matmul(&stack, &groups, &x, &plan(), &mut work, &mut out)
            });
            let product = |(a, &expert): (usize, &usize)| [(3 * (a + 1) * (expert + 1)) as f32; 2];
            let expected: Vec<f32> = chosen.iter().enumerate().flat_map(product).collect();
            assert!(out == expected, "{call}\n  found    {out:?}\n  expected {expected:?}");
            before = "the buffers of a call for one row";
        }
    });
}

#[test]
fn task_2_indexed_matmul_panics_on_wrong_row_count() {
    resting_on(&[GROUPS], || {
        let stack = vec![Matrix::from_f32(2, 3, &[0.0; 6]); 4];
        let groups = group(&[0, 3, 1, 2], 4);
        let product = |x: usize, out: usize| {
            let (x, mut out) = (vec![0.0; x], vec![0.0; out]);
            indexed_matmul(&stack, &groups, &x, &plan(), &mut Gathered::default(), &mut out)
        };
        assert_panics("indexed_matmul with 3 input rows for 4 assignments", || product(9, 8));
        assert_panics("indexed_matmul with part of an extra input row", || product(13, 8));
        assert_panics("indexed_matmul with 5 input rows for 4 assignments", || product(15, 8));
        assert_panics("indexed_matmul with 3 output rows for 4 assignments", || product(12, 6));
        assert_panics("indexed_matmul with 5 output rows for 4 assignments", || product(12, 10));
    });
}

#[test]
fn task_2_combine_matches_pytorch() {
    each("task_2_combine/", |case| {
        let (outputs, weights) = (case.tensor("outputs"), case.numbers("weights"));
        let (tokens, width) = (case.count("tokens"), outputs.shape()[1]);
        let mut out = vec![7.0; tokens * width];
        combine(&numbers(&outputs), &weights, &mut out);
        case.check("output", &tensor(&[tokens, width], out));
    });
}
