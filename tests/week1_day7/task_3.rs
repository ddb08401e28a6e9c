//! Week 1, day 7, task 3: top-p.

use tiny_llm::week1::sampling::top_p;

use super::{OFF, alternating, check_each, check_hand, check_left, fixtures, left};

/// The cases are ordered: later ones check what earlier ones do not.
#[test]
fn task_3_top_p_keeps_the_token_that_crosses_p() {
    for name in ["crossing", "unsorted", "shifted", "masked"] {
        check_each(&fixtures().case(&format!("task_3_top_p/{name}")), "p", |logits, p| {
            top_p(logits, p as f32);
        });
    }
}

#[test]
fn task_3_top_p_at_p_0_and_1_and_with_ties() {
    for p in [0.0, 1e-6] {
        let mut logits = [0.5, -1.0, 2.0, 1.5];
        top_p(&mut logits, p);
        check_hand(
            &format!(
                "top_p with p = {p}, logits 0.5, −1, 2, 1.5: always keep the most probable token"
            ),
            logits,
            [OFF, OFF, 2.0, OFF],
        );
    }
    // e^−200 is 0 in f32, so a running sum reaches 1 before the last token.
    let far = [0.0, -200.0, 3.0, -150.0];
    for p in [1.0, 1.5] {
        let mut logits = far;
        top_p(&mut logits, p);
        check_hand(
            &format!(
                "top_p with p = {p} keeps all tokens, even one whose probability is rounded to 0"
            ),
            logits,
            far,
        );
    }
    // Four times ¼, exact in f32.
    let mut equal = [-1.0; 4];
    top_p(&mut equal, 0.5);
    let why = "top_p with p = ½ and four equal tokens: ¼ + ¼ reaches ½, so keep two tokens, the \
               first of the equal ones";
    check_hand(why, equal, [-1.0, -1.0, OFF, OFF]);
    let mut zeros = [-0.0, 0.0, -0.0, 0.0];
    top_p(&mut zeros, 0.5);
    check_hand(
        "top_p with p = ½, logits −0, 0, −0, 0: they are equal, so keep the first two",
        zeros,
        [0.0, 0.0, OFF, OFF],
    );
}

#[test]
fn task_3_top_p_keeps_the_first_of_many_equal_logits() {
    // 500 tokens are e times as probable as the other 500: each has e/(e + 1)/500 = 0.00146. Each p
    // is half a token away from a boundary.
    for (kept, last) in [(40, 79), (100, 199), (499, 997)] {
        let mut logits = alternating();
        top_p(&mut logits, (f64::from(kept) - 0.5) as f32 * 0.001_462_117_2);
        let expected: Vec<f32> =
            (0..1000).map(|i| if i % 2 == 1 && i <= last { 1.0 } else { OFF }).collect();
        check_hand(
            &format!(
                "top_p that keeps {kept} of 1000 tokens with logits 0, 1, 0, 1, …: keep the first \
                 of equal logits (an unstable sort reorders them); the tokens that stay"
            ),
            left(&logits),
            left(&expected),
        );
    }
}

#[test]
fn task_3_top_p_with_large_vocabulary() {
    // As in the test of `draw`: in f64 the sums are right to a tenth of a token, and p is in the
    // middle of one. In f32 each of the last 50,000 additions is off by up to 2⁻²⁵, always in the
    // same direction.
    let n = 100_000;
    for kept in [25_000, 50_000, 75_000, 99_999] {
        let mut logits = vec![0.0; n];
        top_p(&mut logits, ((f64::from(kept) - 0.5) / n as f64) as f32);
        let found = logits.iter().filter(|&&logit| logit > OFF).count();
        assert!(
            found.abs_diff(kept as usize) <= 1,
            "top_p that keeps {kept} of {n} equal tokens\n  found    {found} tokens stay\n  \
             expected {kept}\n  a running f32 sum of small probabilities drifts: add \
             them up in f64"
        );
    }
}

#[test]
fn task_3_top_p_near_1_and_with_4096_equal_logits() {
    // e^−10 = 4.5e-5, so the first token has more than 0.9999 of the mass.
    let mut logits = [10.0, 0.0, -1.0];
    top_p(&mut logits, 0.9999);
    check_left("top_p with p = 0.9999, logits 10, 0, −1", &logits, |i| [10.0, OFF, OFF][i]);
    // e^−14.5 = 5.0e-7, so the first token has less than 1 − 2⁻²³ of the mass, and the second
    // stays.
    let mut logits = [0.0, -14.5, -30.0];
    top_p(&mut logits, 1.0 - f32::EPSILON);
    check_left("top_p with p = 1 − 2⁻²³, logits 0, −14.5, −30", &logits, |i| {
        [0.0, -14.5, OFF][i]
    });
    let mut logits = [0.0; 4096];
    top_p(&mut logits, 0.5);
    let what = "top_p with p = 0.5 and 4096 equal logits, where the first half sums to exactly 0.5";
    check_left(what, &logits, |i| if i < 2048 { 0.0 } else { OFF });
}
