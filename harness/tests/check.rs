//! Tests of the assertions: what passes, what fails, and their messages.

use std::panic::catch_unwind;

use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{
        Part, Tolerance, assert_accepts, assert_agrees, assert_any_layout, assert_close,
        assert_panics, assert_refuses, compare, in_another_layout, resting_on, worst_mismatch,
    },
    fixtures::Fixtures,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn passes(found: f32, expected: f32, tolerance: impl Into<Tolerance>) -> bool {
    compare("x", &tensor(&[1], vec![found]), &tensor(&[1], vec![expected]), tolerance).is_ok()
}

#[test]
fn nan_and_infinity_match_only_themselves() {
    for tolerance in [Tolerance::Absolute(INF), Tolerance::Absolute(1.0), Tolerance::Relative(0.5)]
    {
        for (found, expected) in [(NAN, 0.0), (0.0, NAN), (NAN, INF), (INF, NAN), (NAN, 1e30)] {
            assert!(
                !passes(found, expected, tolerance),
                "{found} passed for {expected} within {tolerance}"
            );
        }
        for x in [NAN, INF, -INF] {
            assert!(passes(x, x, tolerance), "{x} within {tolerance}");
        }
    }
    for (found, expected) in [(INF, -INF), (INF, f32::MAX), (1.0, INF), (-INF, 0.0)] {
        assert!(!passes(found, expected, 1e30), "{found} passed for {expected}");
        assert!(
            !passes(found, expected, Tolerance::Relative(0.5)),
            "{found} passed for {expected}, relative"
        );
    }
}

#[test]
fn tolerances_are_absolute_or_relative() {
    assert!(passes(1.5, 1.0, 0.5) && !passes(1.5, 1.0, 0.49) && !passes(0.5, 1.0, 0.49));
    assert!(passes(0.0, -0.0, 0.0));
    assert!(
        passes(1001.0, 1000.0, Tolerance::Relative(1e-3))
            && !passes(1002.0, 1000.0, Tolerance::Relative(1e-3))
    );
    assert!(!passes(1.1e-30, 1e-30, Tolerance::Relative(1e-3)) && passes(1.1e-30, 1e-30, 1e-3));
}

#[test]
fn rejects_other_shapes() {
    let message =
        compare("scores", &tensor(&[2, 3], vec![0.0; 6]), &tensor(&[3, 2], vec![0.0; 6]), INF)
            .unwrap_err();
    assert_eq!(message, "scores: wrong shape\n  found    [2, 3]\n  expected [3, 2]");
    assert!(compare("empty", &tensor(&[0, 2], vec![]), &tensor(&[0, 3], vec![]), 0.0).is_err());
    assert!(
        compare("one axis more", &tensor(&[1, 2], vec![0.0; 2]), &tensor(&[2], vec![0.0; 2]), 0.0)
            .is_err()
    );
}

#[test]
fn compare_explains_a_difference() {
    let found = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.5, 7.0]);
    let expected = tensor(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let message = compare("output", &found, &expected, 1e-3).unwrap_err();
    let lines = [
        "output: 2 of 6 elements differ",
        "  worst at [1, 2]: found 7.0, expected 6.0 (tolerance 1e-3)",
        "  shape    [2, 3]",
        "  its row",
        "    found    [4.00000, 5.50000, 7.00000]",
        "    expected [4.00000, 5.00000, 6.00000]",
    ];
    assert_eq!(message.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn nan_is_worse_than_any_difference() {
    let m = worst_mismatch(&tensor(&[3], vec![1e30, NAN, -1e30]), &tensor(&[3], vec![0.0; 3]), 1.0)
        .expect("a mismatch");
    assert_eq!((m.index, m.wrong, m.expected), (vec![1], 3, 0.0));
    assert!(m.found.is_nan());
}

#[test]
fn infinity_is_worse_than_any_difference() {
    for tolerance in [Tolerance::Absolute(1.0), Tolerance::Relative(1e-3)] {
        let (found, expected) = (tensor(&[3], vec![1e30, -INF, 2.0]), tensor(&[3], vec![1.0; 3]));
        let m = worst_mismatch(&found, &expected, tolerance).expect("a mismatch");
        assert_eq!((m.index, m.found), (vec![1], -INF), "{tolerance}");
    }
}

#[test]
fn assert_agrees_gives_no_diagnosis() {
    let (x, y) = (tensor(&[3], vec![1.0, 2.0, 4.0]), tensor(&[3], vec![2.0, 4.0, 8.0]));
    assert_agrees("f(1), compared with f(2)", &x, &x, 0.0, "they are the same");
    let payload = catch_unwind(|| {
        assert_agrees("f(1), compared with f(2)", &x, &y, 1e-3, "f does not look at it");
    })
    .unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("f(1), compared with f(2): 3 of 3 elements differ"), "{text}");
    assert!(
        text.ends_with("\n  both results come from your code: f does not look at it"),
        "{text}"
    );
}

#[test]
fn assert_panics_rejects_a_return_and_a_todo() {
    assert_panics("an assertion", || assert_eq!(1, 2));
    let returned = catch_unwind(|| assert_panics("f(1)", || 1)).unwrap_err();
    assert_eq!(
        returned.downcast_ref::<String>().expect("a message"),
        "f(1): this must panic, but a value was returned"
    );
    assert!(catch_unwind(|| assert_panics("f(1)", || -> i32 { todo!() })).is_err());
    assert!(catch_unwind(|| assert_panics("f(1)", || -> i32 { todo!("task 1") })).is_err());
    let task = std::hint::black_box(1);
    assert!(catch_unwind(|| assert_panics("f(1)", || -> i32 { todo!("task {task}") })).is_err());
}

#[test]
fn assert_accepts_names_the_arguments_of_a_panic() {
    assert_eq!(assert_accepts("f(1)", || 1), 1);
    let panicked =
        catch_unwind(|| assert_accepts("f(1)", || -> i32 { panic!("index {}", 7) })).unwrap_err();
    let panicked = panicked.downcast_ref::<String>().unwrap();
    assert!(
        panicked.starts_with("f(1): this input is allowed, but your function panicked at ")
            && panicked.contains("check.rs:")
            && panicked.ends_with(": index 7"),
        "{panicked}"
    );
    let refused = catch_unwind(|| assert_refuses("f(1)", || i32::MAX.checked_add(1).is_none()));
    assert!(refused.unwrap());
    let panicked = catch_unwind(|| {
        assert_refuses("f(1)", || -> Result<i32, String> { panic!("attempt to add with overflow") })
    });
    let panicked = panicked.unwrap_err();
    let panicked = panicked.downcast_ref::<String>().unwrap();
    assert!(
        panicked
            .starts_with("f(1): this must be refused with an error, but your function panicked")
            && panicked.ends_with("or use `checked_add` and `checked_mul`."),
        "{panicked}"
    );
    let unfinished =
        catch_unwind(|| assert_accepts("f(1)", || -> i32 { todo!("task 1") })).unwrap_err();
    assert_eq!(*unfinished.downcast_ref::<&str>().unwrap(), "not yet implemented: task 1");
}

#[test]
fn a_failed_case_shows_its_position_purpose_and_seed() {
    let message = catch_unwind(|| {
        let case = Fixtures::open("week1_day1").case("task_1_softmax/signed");
        let mut output = case.tensor("output");
        case.check("output", &output);
        output[[1, 2]] += 0.5;
        case.check("output", &output);
    })
    .unwrap_err();
    let message = message.downcast::<String>().expect("a message");
    for part in [
        "task_1_softmax/signed/output: 1 of 15 elements differ",
        "worst at [1, 2]",
        "three rows",
        "(seed 1101)",
    ] {
        assert!(message.contains(part), "{part:?} is missing in\n{message}");
    }
}

#[test]
fn a_finite_number_does_not_match_an_infinity() {
    let (found, expected) =
        (tensor(&[3], vec![65536.0, 1.0, 2.0]), tensor(&[3], vec![INF, 1.0, 2.0]));
    let payload = catch_unwind(|| assert_close("x", &found, &expected, Tolerance::Relative(0.0)))
        .unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(
        text.ends_with("diagnosis 1 of 3 elements are finite where an infinite one belongs."),
        "{text}"
    );
}

#[test]
fn general_diagnoses_appear_only_if_they_fit() {
    let diagnosis = |found: &[f32], expected: &[f32], tolerance: f32| {
        let of = |values: &[f32]| tensor(&[values.len()], values.to_vec());
        let payload =
            catch_unwind(|| assert_close("x", &of(found), &of(expected), tolerance)).unwrap_err();
        let text = payload.downcast_ref::<String>().unwrap().clone();
        text.split_once("diagnosis ")
            .map_or_else(String::new, |(_, diagnosis)| diagnosis.to_owned())
    };
    let scaled = |factor: f32| {
        diagnosis(&[2.0 * factor, 4.0 * factor, 8.0 * factor], &[2.0, 4.0, 8.0], 1e-3)
    };
    assert_eq!(scaled(0.5), "Every element is 0.5000 times the expected one (a factor of 1/2).");
    assert_eq!(
        scaled(8f32.powf(-0.5)),
        "Every element is 0.3536 times the expected one (a factor of 1/2.8284)."
    );
    assert_eq!(scaled(2.5e-4), "Every element is 2.500e-4 times the expected one.");
    assert_eq!(scaled(1.002), "Every element is 1.002000 times the expected one.");
    // A factor so close to 1 cannot be distinguished from other deviations.
    assert_eq!(diagnosis(&[1.9998, 3.9996, 7.9992], &[2.0, 4.0, 8.0], 1e-6), "");
    assert_eq!(
        scaled(-0.125),
        "Every element is -0.1250 times the expected one: the sign is wrong."
    );
    // For a result that has vanished or exploded, a factor would not be helpful.
    assert_eq!([scaled(1.6e-28), scaled(1e9)], ["", ""]);
    // All of these values are below the tolerance, so any factor would fit.
    assert_eq!(diagnosis(&[1e-6, 9e-6, 2e-6], &[2.0, 4.0, 8.0], 1e-3), "");
    // The error is above the tolerance, but below the rounding error of such numbers.
    assert_eq!(diagnosis(&[100.0, 200.0, 400.001], &[100.0, 200.0, 400.0], 1e-6), "");
    assert_eq!(
        diagnosis(&[1.0, INF], &[1.0, 2.0], 0.0),
        "1 of 2 elements are infinite where a finite number belongs."
    );
    assert_eq!(diagnosis(&[1.0, NAN], &[1.0, 2.0], 0.0), "1 of 2 elements are NaN.");
    assert!(diagnosis(&[NAN, NAN], &[1.0, 2.0], 0.0).starts_with("2 of 2 elements are NaN. One "));
    for special in [INF, NAN] {
        assert_eq!(diagnosis(&[NAN, special], &[1.0, special], 0.0), "1 of 2 elements are NaN.");
    }
    assert!(
        diagnosis(&[-INF, -INF], &[0.0, -INF], 0.0)
            .ends_with("infinite where a finite number belongs.")
    );
}

#[test]
fn reports_a_failing_part_first() {
    let part = |what, check| Part { task: "week1-day1 task 1", what, check };
    let (right, wrong) = (part("right", || ()), part("wrong", || panic!("wrong by itself")));
    assert_eq!(resting_on(&[&wrong], || 1), 1, "no part is checked if the whole is right");
    let message = |parts: &[&Part]| {
        let whole = || resting_on(parts, || panic!("the whole is wrong"));
        let panicked = catch_unwind(std::panic::AssertUnwindSafe(whole)).unwrap_err();
        let text = panicked.downcast_ref::<String>().cloned();
        text.unwrap_or_else(|| (*panicked.downcast_ref::<&str>().unwrap()).to_owned())
    };
    assert_eq!(message(&[&right]), "the whole is wrong");
    assert!(
        message(&[&right, &wrong])
            .starts_with("week1-day1 task 1 (wrong) is red, and this test depends")
    );
}

#[test]
fn assert_any_layout_detects_iteration_in_memory_order() {
    let x = tensor(&[2, 3], (0..6).map(|i| i as f32).collect());
    let other = in_another_layout(&x);
    assert!(other == x && other.as_slice().is_none());
    assert_any_layout("a copy", &x, 0.0, Clone::clone);
    let through_memory = || {
        assert_any_layout("a walk", &x, 0.0, |x| {
            tensor(&[6], x.as_slice_memory_order().unwrap().to_vec())
        });
    };
    catch_unwind(through_memory).unwrap_err();
}

#[test]
fn a_wrong_sign_near_0_is_not_the_worst_mismatch() {
    let (found, expected) = (tensor(&[2], vec![1e-3, 8.0]), tensor(&[2], vec![-1e-3, 4.0]));
    let worst = worst_mismatch(&found, &expected, Tolerance::Relative(0.0)).unwrap();
    assert_eq!((worst.index, worst.wrong), (vec![1], 2));
}
