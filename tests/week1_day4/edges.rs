//! Week 1, day 4: numbers near the limits of f32, each eps, and different weights of the same
//! shape.

use tiny_llm::week1::{
    mlp::{SwiGlu, silu},
    norm::RmsNorm,
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_agrees, assert_close_because, assert_panics, resting_on},
    fixtures::random,
};

use super::parts;

#[test]
fn task_1_rms_norm_adds_eps_to_the_mean_square() {
    // A mean square of 4. The roots are whole numbers.
    let x = tensor(&[2, 4], vec![2.0, -2.0, 2.0, -2.0, 0.0, 0.0, 0.0, 0.0]);
    let weight = tensor(&[4], vec![1.0, -2.0, 0.0, 8.0]);
    for (eps, root) in [(0.0, 2.0), (5.0, 3.0), (12.0, 4.0), (32.0, 6.0), (1e6, 1000.002)] {
        let norm = RmsNorm { weight: weight.clone(), eps };
        let what = format!("RmsNorm of 2, −2, 2, −2 with the weights {weight} and eps {eps}");
        let found = norm.forward(&x).index_axis_move(ndarray::Axis(0), 0);
        let expected = tensor(&[4], [2.0, 4.0, 0.0, -16.0].map(|x| x / root).to_vec());
        let why = format!("the mean square is 4, so each number must be divided by √(4 + {eps})");
        assert_close_because(&what, &found, &expected, 1e-6, &why);
        if eps > 0.0 {
            let zeros = norm.forward(&x).index_axis_move(ndarray::Axis(0), 1);
            assert!(
                zeros.iter().all(|&y| y == 0.0),
                "RmsNorm of zeros with eps {eps}: found {zeros}, expected zeros"
            );
        }
    }
}

/// Each row is normalised separately, whatever its sign and the contents of other rows.
#[test]
fn task_1_rms_norm_normalises_rows_independently() {
    let norm = RmsNorm { weight: random(101, &[5]), eps: 1e-6 };
    let x = random(102, &[2, 3, 5]);
    let before = norm.forward(&x);
    let turned = norm.forward(&-&x);
    assert_agrees(
        "RmsNorm of −x, compared with −(RmsNorm of x)",
        &turned,
        &-&before,
        0.0,
        "the mean square of −x is that of x",
    );
    let negative = RmsNorm { weight: -&norm.weight, eps: 1e-6 };
    let property = "the result is multiplied by the weight, which may be negative";
    let what = "RmsNorm with −weight, compared with −(RmsNorm with weight)";
    assert_agrees(what, &negative.forward(&x), &-&before, 0.0, property);
    let mut lost = x.clone();
    lost[[1, 0, 3]] = f32::NAN;
    for ((index, found), before) in norm.forward(&lost).indexed_iter().zip(&before) {
        let of_row = index[0] == 1 && index[1] == 0;
        assert!(
            if of_row { found.is_nan() } else { found == before },
            "RmsNorm of x [2, 3, 5] with a NaN at [1, 0, 3]: at {:?} found {found}, expected {}",
            ndarray::Dimension::slice(&index),
            if of_row {
                "NaN, because the mean square of that row is NaN".to_owned()
            } else {
                before.to_string()
            }
        );
    }
    let one = RmsNorm { weight: tensor(&[1], vec![3.0]), eps: 0.0 };
    let found = one.forward(&tensor(&[3, 1], vec![5.0, -7.0, 1e-3]));
    assert_close_because(
        "RmsNorm of rows with one element, weight 3, eps 0",
        &found,
        &tensor(&[3, 1], vec![3.0, -3.0, 3.0]),
        1e-5,
        "the root of the mean square is |x|, so the result is 3 times the sign of x",
    );
    for (shape, width) in
        [(&[2, 8][..], 1), (&[2, 8], 4), (&[2, 8], 16), (&[2, 1], 3), (&[3, 3, 2], 3), (&[0, 4], 3)]
    {
        let norm = RmsNorm { weight: random(103, &[width]), eps: 1e-6 };
        let what = format!(
            "RmsNorm of x {shape:?} with a weight [{width}], whose width differs from that of x"
        );
        assert_panics(&what, || norm.forward(&Tensor::ones(shape)));
    }
}

#[test]
fn task_2_silu_edge_cases() {
    let least = f32::from_bits(1);
    let cases = [
        (0.0, 0.0),
        (-0.0, 0.0),
        // x · σ(x) is x/2 near 0, and halves this small are rounded to even.
        (4.0 * least, 2.0 * least),
        (-4.0 * least, -2.0 * least),
        (1e-30, 0.5e-30),
        (-1e-30, -0.5e-30),
        (f32::MAX, f32::MAX),
        (f32::MIN, 0.0),
        (88.0, 88.0),
        (89.0, 89.0),
        (104.0, 104.0),
    ];
    for (x, expected) in cases {
        let found = silu(&tensor(&[1], vec![x]))[0];
        assert!(
            found == expected || (found - expected).abs() <= 1e-6 * expected.abs(),
            "silu({x:e}): found {found:e}, expected {expected:e}"
        );
    }
    let x = tensor(&[2, 2], vec![1.0, f32::NAN, -1.0, 2.0]);
    let lost: Vec<bool> = silu(&x).iter().map(|y| y.is_nan()).collect();
    assert_eq!(
        lost,
        [false, true, false, false],
        "silu of 1, NaN, −1, 2: only the second result must be NaN"
    );
}

#[test]
fn task_3_swiglu_applies_silu_only_to_the_gate() {
    let of_one = |x: f32| tensor(&[1, 1], vec![x]);
    // silu(−100) is negligible compared with 100, so the gate's sign decides.
    for (gate, up, expected) in [
        (100.0, -3.0, -300.0),
        (-100.0, 3.0, 0.0),
        (100.0, 0.0, 0.0),
        (100.0, 8.0, 800.0),
        (64.0, -100.0, -6400.0),
        (200.0, 200.0, 40_000.0),
        (1000.0, 2000.0, 2e6),
    ] {
        for down in [1.0, -0.5] {
            let mlp =
                SwiGlu { gate_proj: of_one(gate), up_proj: of_one(up), down_proj: of_one(down) };
            resting_on(&[parts::SOFTMAX, parts::SILU], || {
                assert_close_because(
                    &format!(
                        "SwiGlu of x = 1 with the weights gate {gate}, up {up} and down {down}"
                    ),
                    &mlp.forward(&of_one(1.0)),
                    &of_one(expected * down),
                    1e-30,
                    "down · (silu(gate · x) · (up · x)): apply silu only to the gate, and limit no \
                     product",
                );
            });
        }
    }
    let [gate_proj, up_proj] = [104, 105].map(|seed| random(seed, &[4, 4]));
    let mlp = SwiGlu { gate_proj, up_proj, down_proj: random(106, &[4, 4]) };
    let x = random(107, &[2, 3, 4]);
    let before = mlp.forward(&x);
    for factor in [2f32.powi(40), -1.0, -2f32.powi(-40), 0.0] {
        for (name, scaled) in [
            ("up_proj", SwiGlu { up_proj: &mlp.up_proj * factor, ..mlp.clone() }),
            ("down_proj", SwiGlu { down_proj: &mlp.down_proj * factor, ..mlp.clone() }),
        ] {
            let what = format!(
                "SwiGlu with {factor:e} · {name}, compared with {factor:e} · (SwiGlu with {name})"
            );
            let why = "up_proj and down_proj are linear: a factor of the weight is a factor of the \
                       result";
            resting_on(&[parts::SOFTMAX, parts::SILU], || {
                assert_agrees(&what, &scaled.forward(&x), &(&before * factor), 0.0, why);
            });
        }
    }
    for shape in [&[0, 4][..], &[2, 0, 4]] {
        let what = format!("SwiGlu of x {shape:?}, which has no rows");
        let found = assert_accepts(&what, || mlp.forward(&Tensor::zeros(shape)));
        assert_eq!(found.shape(), shape, "{what}: the result has the wrong shape");
    }
}
