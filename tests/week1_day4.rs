//! Week 1, day 4: RMSNorm, SiLU, the SwiGLU MLP.

use ndarray::{Axis, IxDyn};
use tiny_llm::week1::{
    mlp::{SwiGlu, silu},
    norm::RmsNorm,
};
use tiny_llm_formats::{
    Tensor,
    tensor::{reshape, tensor},
};
use tiny_llm_harness::{
    check::{
        assert_accepts, assert_agrees, assert_any_layout, assert_close, assert_close_because,
        compare, resting_on,
    },
    fixtures::{Case, Fixtures, random},
};

#[path = "week1_day4/edges.rs"]
mod edges;
mod parts;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day4")
}

// Task 1: RMSNorm

#[track_caller]
fn check_rms_norm(case: &str) {
    let case = fixtures().case(&format!("task_1_rms_norm/{case}"));
    let norm = RmsNorm { weight: case.tensor("weight"), eps: case.scalar("eps") as f32 };
    case.check("output", &norm.forward(&case.tensor("x")));
}

#[test]
fn task_1_rms_norm_of_typical_values() {
    check_rms_norm("ordinary");
}

#[test]
fn task_1_rms_norm_does_not_subtract_the_mean() {
    check_rms_norm("offset");
}

#[test]
fn task_1_rms_norm_of_values_around_1000() {
    check_rms_norm("huge");
}

/// Checks several values of eps in one answer. With one value, using a different eps and using it
/// as a lower bound look the same.
#[test]
fn task_1_rms_norm_of_small_values_uses_its_own_eps() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_rms_norm/each_eps");
    let (x, weight) = (case.tensor("x"), case.tensor("weight"));
    let every: Vec<f32> = case.read("eps");
    let found = every.iter().map(|&eps| RmsNorm { weight: weight.clone(), eps }.forward(&x));
    let found: Vec<Tensor> = found.collect();
    let views: Vec<_> = found.iter().map(|x| x.view()).collect();
    let rows: Vec<String> = every.iter().map(|eps| format!("eps = {eps:?}")).collect();
    let found = ndarray::stack(Axis(0), &views).expect("of one shape");
    case.check_rows("output", &rows, &found);
}

#[test]
fn task_1_rms_norm_of_zeros_is_zero() {
    check_rms_norm("zero_row");
}

#[test]
fn task_1_rms_norm_output_has_a_mean_square_of_one() {
    let norm = RmsNorm { weight: Tensor::ones(IxDyn(&[9])), eps: 1e-6 };
    let mean_square = |x: &Tensor| (x * x).mean_axis(Axis(1)).expect("nine columns");
    let found = mean_square(&norm.forward(&(random(51, &[4, 9]) * 4.0)));
    // eps is below 1e-6 of a mean square above 1, and about twenty roundings add up to twice that.
    // Without diagnosis, because a factor doesn't identify a mistake: 2 may be 1 + weight, √4 for
    // four rows, or something else.
    assert_close_because(
        "mean of squares of each row of RmsNorm, with weights of 1",
        &found,
        &Tensor::ones(IxDyn(&[4])),
        3e-6,
        "if all weights are 1, each row of the result must have a mean square of 1",
    );
}

#[test]
fn task_1_rms_norm_in_any_layout() {
    let norm = RmsNorm { weight: random(55, &[8]), eps: 1e-6 };
    // A sum of eight squares in any order, of numbers up to 2. The results are below 8.
    assert_any_layout("RmsNorm", &random(56, &[2, 3, 8]), 1e-5, |x| norm.forward(x));
}

#[test]
fn task_1_rms_norm_of_single_row_and_empty_inputs() {
    let norm = RmsNorm { weight: random(55, &[8]), eps: 1e-6 };
    let x = random(56, &[1, 8]);
    let expected = norm.forward(&x).index_axis_move(Axis(0), 0);
    let row = x.index_axis_move(Axis(0), 0);
    let found = assert_accepts("RmsNorm of a single row [8]", || norm.forward(&row));
    let property = "a single row must give the same result as the same row in a matrix: there may \
                    be any number of leading axes, even none";
    assert_agrees("RmsNorm of a single row [8]", &found, &expected, 1e-6, property);
    for shape in [&[0, 8][..], &[2, 0, 8]] {
        let what = format!("RmsNorm of x {shape:?}, which has no rows");
        let found = assert_accepts(&what, || norm.forward(&Tensor::zeros(shape)));
        assert_eq!(found.shape(), shape, "{what}: the result has the wrong shape");
    }
}

#[test]
fn task_1_rms_norm_is_accurate_for_large_inputs() {
    let (rows, width) = (130, 300);
    let weight = Tensor::from_shape_fn(vec![width], |at| at[0] as f32 - 149.5);
    // Rows of ±c and ±2c, with a different power of two c in each row: only the root is rounded.
    let unit = |column: usize| {
        let sign = if column.is_multiple_of(3) { -1.0 } else { 1.0 };
        sign * if column < width / 2 { 1.0 } else { 2.0 }
    };
    let c = |row: usize| 2f32.powi((row % 90) as i32 - 50);
    let x = Tensor::from_shape_fn(vec![rows, width], |at| c(at[0]) * unit(at[1]) as f32);
    let found = RmsNorm { weight: weight.clone(), eps: 1e-37 }.forward(&x);
    let eps = 1.0;
    let with_eps = RmsNorm { weight: weight.clone(), eps }.forward(&x);
    for row in 0..rows {
        for column in 0..width {
            let square = 2.5 * f64::from(c(row)).powi(2);
            for (eps, found) in [(0.0, &found), (f64::from(eps), &with_eps)] {
                let found = f64::from(found[[row, column]]);
                let expected = f64::from(c(row)) * unit(column) * f64::from(weight[[column]])
                    / (square + eps).sqrt();
                // 300 squares are added up.
                assert!(
                    (found - expected).abs() <= 5e-5 * expected.abs(),
                    "RmsNorm of x [{rows}, {width}], eps about {eps}, at [{row}, {column}], where \
                     the row's mean square is {square:e}: found {found:e}, expected \
                     {expected:e}\n  treat all rows alike, whatever their size, length or index"
                );
            }
        }
    }
}

// Task 2: SiLU

#[track_caller]
fn check_silu(case: &str) {
    let case = fixtures().case(&format!("task_2_silu/{case}"));
    case.check("output", &silu(&case.tensor("x")));
}

#[test]
fn task_2_silu_between_minus_2_and_3() {
    check_silu("moderate");
}

#[test]
fn task_2_silu_is_accurate_down_to_minus_30() {
    check_silu("negative");
}

#[test]
fn task_2_silu_is_nonzero_between_minus_92_and_minus_88() {
    let case = fixtures().case("task_2_silu/far_left");
    let (expected, tolerance) = (case.tensor("output"), case.tolerance("output"));
    // Without diagnosis: very different functions are 0 or x here.
    assert_close_because(
        "silu of x from −88 to −92",
        &silu(&case.tensor("x")),
        &expected,
        tolerance,
        "e^(−x) is infinite here, but x · e^x is not 0 yet: for x below 0, compute with e^x",
    );
}

#[test]
fn task_2_silu_in_any_layout() {
    assert_any_layout("silu", &random(57, &[2, 3, 5]), 0.0, silu);
}

#[test]
fn task_2_silu_of_any_shape() {
    for shape in [&[][..], &[1], &[0], &[2, 0], &[2, 1, 3, 1]] {
        let (what, x) = (format!("silu of x {shape:?}"), Tensor::from_elem(shape, 100.0));
        let found = assert_accepts(&what, || silu(&x));
        let property = "silu works on each element separately, and silu(100) is 100 in f32";
        assert_agrees(&what, &found, &x, 0.0, property);
    }
}

#[test]
fn task_2_silu_between_minus_1_and_12() {
    check_silu("positive");
}

#[test]
fn task_2_silu_of_x_minus_silu_of_minus_x_is_x() {
    // x·σ(x) + x·σ(−x) = x
    let x = random(54, &[3, 7]);
    // Without diagnosis, because known mistakes are recorded as answers, not as this difference.
    compare("silu(x) − silu(−x), compared with x", &(silu(&x) - silu(&-&x)), &x, 2e-6)
        .unwrap_or_else(|text| panic!("{text}"));
}

#[test]
fn task_2_silu_never_overflows() {
    let x = tensor(&[8], vec![-100.0, -1e4, -1e30, f32::MIN, 100.0, 1e4, 1e30, f32::MAX]);
    let expected = x.mapv(|x| x.max(0.0));
    let y = silu(&x);
    for (x, y) in x.iter().zip(&y) {
        assert!(
            y.is_finite(),
            "silu({x:?}): found {y:?}, expected a finite number (in f32, e^x is infinite for x \
             above 88)"
        );
    }
    // −100·σ(−100) is −3.7e-42, which f32 may also round to 0. Above 0 only the last digit may be
    // wrong. Without diagnosis, because very different functions are equal for such large numbers.
    for (x, (found, expected)) in x.iter().zip(y.iter().zip(&expected)) {
        let near = (found - expected).abs() <= if *x < 0.0 { 1e-41 } else { f32::EPSILON * x };
        assert!(near, "silu({x:?}): found {found:?}, expected {expected:?}");
    }
}

#[test]
fn task_2_silu_is_accurate_at_all_magnitudes() {
    let x: Vec<f32> = (-35..=20)
        .flat_map(|power| [2f32.powi(power) * 1.25, 2f32.powi(power) * -1.25])
        .filter(|x| *x > -80.0)
        .collect();
    let y = silu(&tensor(&[x.len()], x.clone()));
    for (x, found) in x.into_iter().zip(y) {
        let expected = f64::from(x) / (1.0 + f64::from(-x).exp());
        assert!(
            (f64::from(found) - expected).abs() <= 2e-5 * expected.abs(),
            "silu({x:e}): found {found:e}, expected {expected:e}"
        );
    }
    let of_nan = silu(&tensor(&[1], vec![f32::NAN]));
    assert!(of_nan[0].is_nan(), "silu(NaN): found {}, expected NaN", of_nan[0]);
}

// Task 3: the MLP

fn swiglu(case: &Case) -> SwiGlu {
    SwiGlu {
        gate_proj: case.tensor("gate_proj"),
        up_proj: case.tensor("up_proj"),
        down_proj: case.tensor("down_proj"),
    }
}

#[track_caller]
fn check_swiglu(case: &str) {
    let case = fixtures().case(&format!("task_3_swiglu/{case}"));
    let (x, mlp) = (case.tensor("x"), swiglu(&case));
    let (expand, down) = (mlp.gate_proj.shape(), mlp.down_proj.shape());
    let arguments = format!(
        "SwiGlu of x {:?} with gate_proj and up_proj {expand:?} and down_proj {down:?}, each [out, \
         in]",
        x.shape()
    );
    resting_on(&[parts::SOFTMAX, parts::SILU], || {
        case.check("output", &assert_accepts(&arguments, || mlp.forward(&x)));
    });
}

#[test]
fn task_3_swiglu_of_a_batch() {
    check_swiglu("batched");
}

#[test]
fn task_3_swiglu_of_one_row() {
    check_swiglu("one_row");
}

#[test]
fn task_3_swiglu_with_square_weights() {
    check_swiglu("square");
}

#[test]
fn task_3_swiglu_processes_rows_independently() {
    let case = fixtures().case("task_3_swiglu/batched");
    let mlp = swiglu(&case);
    let row = |x: &Tensor, i: usize| reshape(x, &[6, 10]).select(Axis(0), &[i]);
    for i in 0..6 {
        let found = mlp.forward(&row(&case.tensor("x"), i));
        assert_close(
            &format!("SwiGlu of row {i} of the batch alone"),
            &found,
            &row(&case.tensor("output"), i),
            case.tolerance("output"),
        );
    }
}

#[test]
fn task_3_swiglu_in_any_layout() {
    let weights = [(1, [7, 6]), (2, [7, 6]), (3, [6, 7])];
    let [gate_proj, up_proj, down_proj] = weights.map(|(seed, shape)| random(seed, &shape));
    let mlp = SwiGlu { gate_proj, up_proj, down_proj };
    resting_on(&[parts::SOFTMAX, parts::SILU], || {
        assert_any_layout("SwiGlu", &random(58, &[2, 3, 6]), 1e-5, |x| mlp.forward(x));
        let x = random(58, &[3, 6]);
        assert_any_layout("SwiGlu with a gate_proj", &mlp.gate_proj, 1e-5, |gate_proj| {
            SwiGlu { gate_proj: gate_proj.clone(), ..mlp.clone() }.forward(&x)
        });
        assert_any_layout("SwiGlu with an up_proj", &mlp.up_proj, 1e-5, |up_proj| {
            SwiGlu { up_proj: up_proj.clone(), ..mlp.clone() }.forward(&x)
        });
        assert_any_layout("SwiGlu with a down_proj", &mlp.down_proj, 1e-5, |down_proj| {
            SwiGlu { down_proj: down_proj.clone(), ..mlp.clone() }.forward(&x)
        });
    });
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day4.rs"]
mod fresh;
