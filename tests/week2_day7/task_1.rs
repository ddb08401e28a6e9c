//! Week 2, day 7, task 1.

use tiny_llm::week2::streaming::OnlineSoftmax;

use super::check_absorb;

#[test]
fn task_1_absorb_rising_scores() {
    check_absorb("rising");
}

#[test]
fn task_1_absorb_falling_scores() {
    check_absorb("falling");
}

#[test]
fn task_1_absorb_large_scores() {
    check_absorb("large");
}

#[test]
fn task_1_absorb_very_negative_scores() {
    check_absorb("very_negative");
}

#[test]
fn task_1_absorb_masked_piece_first() {
    check_absorb("masked_first");
}

#[test]
fn task_1_absorb_masked_piece_last() {
    check_absorb("masked_last");
}

#[test]
fn task_1_absorb_empty_pieces() {
    check_absorb("empty");
}

// Tasks 2 and 3: attention in one pass

#[test]
fn task_1_absorb_extreme_scores() {
    for far in [-2000.0, -1e6, 1e6] {
        let mut softmax = OnlineSoftmax::default();
        let mut scores = [far, far - 1.0];
        let factor = softmax.absorb(&mut scores);
        let expected = (far, 1.0 + (-1f32).exp(), 0.0, [1.0, (-1f32).exp()]);
        let near = |found: f32, expected: f32| (found - expected).abs() <= 1e-6;
        assert!(
            softmax.max == expected.0
                && near(softmax.total, expected.1)
                && near(factor, expected.2)
                && near(scores[0], expected.3[0])
                && near(scores[1], expected.3[1]),
            "first absorb, of [{far}, {far} − 1]: found maximum {}, total {}, factor {factor} and \
             weights {scores:?}, expected {expected:?}: only −∞ hides a position",
            softmax.max,
            softmax.total
        );
    }
}
