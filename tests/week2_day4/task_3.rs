//! Week 2, day 4, task 3: the search.

use tiny_llm::week2::blocks::search::{
    ScaleAndMin, fit_scale_and_min, importance, search_scale_and_min,
};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::fixtures::{Fixtures, random};

use super::{fixtures, rows};

/// Replaces each value below the expected one with it, because a smaller error is fine.
fn at_least(found: Vec<f32>, expected: &Tensor) -> Tensor {
    let values = found.iter().zip(expected).map(|(&x, &y)| if x < y { y } else { x });
    tensor(&[found.len()], values.collect())
}

#[test]
fn task_3_fit_scale_and_min() {
    check_fit(&fixtures());
}

#[track_caller]
fn check_fit(fixtures: &Fixtures) {
    let case = fixtures.case("task_3_fit/groups");
    let [x, importance, codes] =
        ["x", "importance", "codes"].map(|name| rows::<32>(&case.tensor(name)));
    let found: Vec<ScaleAndMin> =
        (0..x.len()).map(|i| fit_scale_and_min(&x[i], &importance[i], &codes[i])).collect();
    // A minimum that is not clamped also makes the scale wrong, so the minimum is checked first.
    case.check("minimum", &tensor(&[x.len()], found.iter().map(|fit| fit.min).collect()));
    case.check("scale", &tensor(&[x.len()], found.iter().map(|fit| fit.scale).collect()));
}

#[test]
fn task_3_fit_scale_and_min_of_equal_codes() {
    // The determinant is 0, but rounded sums may make it slightly larger.
    for seed in 0..64 {
        let draw = rows::<32>(&random(seed, &[2, 32]));
        let importance = draw[1].map(f32::abs);
        let fit = fit_scale_and_min(&draw[0], &importance, &[5.0; 32]);
        assert!(
            fit.min == 0.0 && fit.scale.abs() <= 0.4,
            "fit_scale_and_min with all codes 5 and weights between -2 and 2 (seed {seed}): found \
             {fit:?}, expected a minimum of 0, and a scale of at most 0.4, so that 5 · scale is \
             between the weights"
        );
    }
}

#[test]
fn task_3_search_scale_and_min_of_representable_groups() {
    let fixtures = fixtures();
    check_fit(&fixtures);
    let case = fixtures.case("task_3_search/exact");
    let found: Vec<_> =
        rows::<32>(&case.tensor("x")).iter().map(|x| search_scale_and_min(x, 15)).collect();
    case.check("scale", &tensor(&[found.len()], found.iter().map(|fit| fit.scale).collect()));
    case.check("minimum", &tensor(&[found.len()], found.iter().map(|fit| fit.min).collect()));
}

#[test]
fn task_3_search_scale_and_min_with_4_bits() {
    check_search("top_15");
}

#[test]
fn task_3_search_scale_and_min_with_2_bits() {
    check_search("top_3");
}

/// Checks that the weighted error of the search is at most that of the documented search.
#[track_caller]
fn check_search(case: &str) {
    let fixtures = fixtures();
    check_fit(&fixtures);
    let case = fixtures.case(&format!("task_3_search/{case}"));
    let top = u8::try_from(case.count("top")).expect("a small number");
    let error = |x: &[f32; 32]| {
        let found = search_scale_and_min(x, top);
        assert!(
            found.scale.is_finite() && found.min >= 0.0,
            "search_scale_and_min: found {found:?}, expected a finite scale, and a minimum of at \
             least 0"
        );
        let weights = importance(x);
        let square = |(x, w): (&f32, &f32)| {
            let code = if found.scale > 0.0 {
                ((x + found.min) / found.scale).round_ties_even().clamp(0.0, f32::from(top))
            } else {
                0.0
            };
            f64::from(*w) * f64::from(found.scale * code - found.min - x).powi(2)
        };
        (x.iter().zip(&weights).map(square).sum::<f64>()
            / weights.iter().map(|&w| f64::from(w)).sum::<f64>())
        .sqrt() as f32
    };
    let found = rows(&case.tensor("x")).iter().map(error).collect();
    case.check("error", &at_least(found, &case.tensor("error")));
}
