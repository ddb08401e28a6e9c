//! Week 3, day 6: extreme f32 numbers, very large lengths, and results compared with their
//! definitions.

use tiny_llm::week1::sampling::Rng;
use tiny_llm::week3::{
    accept::{Draft, Verdict, accepts, draw_weighted, residual, verify},
    draft_length::{Costs, DraftLength, best_length, expected_tokens},
    lookup::draft_from_text,
};
use tiny_llm_harness::check::assert_accepts;

#[test]
fn task_1_draft_from_text_with_large_lengths() {
    let text = [1, 2, 3, 9, 1, 2, 3];
    for longest in [3, 6, 7, 100, usize::MAX] {
        for k in [1, 3, 4, 5, usize::MAX] {
            let call = format!("draft_from_text({text:?}, {longest}, {k})");
            let found = assert_accepts(&call, || draft_from_text(&text, longest, k));
            let all = [9, 1, 2, 3];
            let expected = &all[..k.min(4)];
            assert!(found == expected, "{call}: found {found:?}, expected {expected:?}");
        }
    }
    let long: Vec<u32> = (0..2000).map(|i| if i == 1999 { 7 } else { i }).collect();
    let found = draft_from_text(&long, 4, 3);
    assert!(
        found == [8, 9, 10],
        "draft_from_text of 2000 tokens whose last token also occurs near the start: found \
         {found:?}, expected [8, 9, 10]"
    );
    let strange = [u32::MAX, 0, u32::MAX];
    let found = draft_from_text(&strange, 2, 2);
    assert!(
        found == [0, u32::MAX],
        "draft_from_text({strange:?}, 2, 2): found {found:?}, expected [0, 4294967295]"
    );
}

#[test]
fn task_2_accepts_edge_cases() {
    let least = f32::from_bits(1);
    let below_1 = 1.0 - 2f64.powi(-53);
    for (p, q, uniform, expected) in [
        // In f32, these numbers would be rounded to 0.5 and 1.
        (0.5, 1.0, 0.5 - 2f64.powi(-40), true),
        (0.5, 1.0, 0.5, false),
        (0.5, 1.0, 0.5 + 2f64.powi(-40), false),
        (0.25, 0.5, 0.5 - 2f64.powi(-50), true),
        (1.0, 1.0, below_1, true),
        (0.125, 0.125, below_1, true),
        (1.0 - f32::EPSILON, 1.0, below_1, false),
        // In f32, the products of these small numbers are 0.
        (least, least, 0.99, true),
        (least, 1.0, 1e-46, true),
        (least, 1.0, 1e-44, false),
        (least, 2.0 * least, 0.49, true),
        (least, 2.0 * least, 0.51, false),
        (0.0, least, 0.0, false),
        (1.0, least, below_1, true),
        (1e-30, 1e-20, 1e-11, true),
        (1e-30, 1e-20, 1e-9, false),
    ] {
        let call = format!("accepts({p:e}, {q:e}, {uniform:?})");
        let found = accepts(p, q, uniform);
        assert!(
            found == expected,
            "{call}: found {found}, expected {expected}, because p / q is {:e}",
            f64::from(p) / f64::from(q)
        );
    }
}

#[test]
fn task_2_residual_with_random_distributions() {
    let mut rng = Rng::new(62);
    for round in 0..500 {
        let n = 1 + (rng.next_u64() % 12) as usize;
        let mut row = |sharp: i32| -> Vec<f32> {
            let x: Vec<f64> = (0..n).map(|_| rng.uniform().powi(sharp)).collect();
            let sum: f64 = x.iter().sum();
            x.iter().map(|x| (x / sum) as f32).collect()
        };
        let sharp = [1, 4, 40][round % 3];
        let (p, q) = (row(sharp), row(sharp));
        let left: Vec<f64> =
            p.iter().zip(&q).map(|(&p, &q)| (f64::from(p) - f64::from(q)).max(0.0)).collect();
        let sum: f64 = left.iter().sum();
        let expected: Vec<f64> = if sum == 0.0 {
            p.iter().map(|&x| f64::from(x)).collect()
        } else {
            left.iter().map(|x| x / sum).collect()
        };
        let found = residual(&p, &q);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 && (*a == 0.0) == (*b == 0.0);
        assert!(
            found.len() == n && found.iter().zip(&expected).all(near),
            "residual of p = {p:?}, q = {q:?}\n  found    {found:?}\n  expected {expected:?}"
        );
    }
    // One token, or the same distribution twice: nothing is left, so the result is p.
    for p in [vec![1.0], vec![0.5, 0.5], vec![0.0, 1.0, 0.0]] {
        let expected: Vec<f64> = p.iter().map(|&x| f64::from(x)).collect();
        let found = residual(&p, &p);
        assert!(found == expected, "residual of p = q = {p:?}: found {found:?}, expected p");
    }
    // The result is right even if very little is left.
    let found = residual(&[0.5, f32::from_bits(3), 0.5], &[0.75, f32::from_bits(2), 0.75]);
    assert!(
        found == [0.0, 1.0, 0.0],
        "residual where only 1.4e-45 is left, all of it for token 1: found {found:?}, expected \
         [0.0, 1.0, 0.0]"
    );
}

#[test]
fn task_2_verify_certain_drafts() {
    let vocabulary = 5;
    let certain = |token: u32| Draft::certain(token, vocabulary);
    let one = |token: usize| {
        let mut p = vec![0.0; vocabulary];
        p[token] = 1.0;
        p
    };
    // Drafts, the target's token at each draft and after them, accepted drafts, next token.
    for (drafts, wants, accepted, next) in [
        (&[][..], &[3][..], 0, 3),
        (&[2], &[2, 4], 1, 4),
        (&[2], &[1, 4], 0, 1),
        (&[0, 4, 0], &[0, 4, 0, 2], 3, 2),
        (&[0, 4, 0], &[0, 3, 0, 2], 1, 3),
        (&[0, 4, 0], &[0, 4, 1, 2], 2, 1),
        (&[1; 9], &[1; 10], 9, 1),
    ] {
        for seed in 0..20 {
            let all: Vec<Draft> = drafts.iter().map(|&token| certain(token)).collect();
            let what = format!("verify drafts {drafts:?}, target tokens {wants:?}, seed {seed}");
            let found =
                assert_accepts(&what, || verify(&all, |i| one(wants[i]), &mut Rng::new(seed)));
            let expected = Verdict { accepted, next };
            assert!(found == expected, "{what}: found {found:?}, expected {expected:?}");
        }
    }
    // A last token with a small probability can be drawn, too.
    let weights = [0.0, 1.0, 0.0, 1e-3];
    assert_eq!(
        [0.0, 0.999_9].map(|u| draw_weighted(&weights, u)),
        [1, 3],
        "the provided draw_weighted"
    );
}

#[test]
fn task_3_expected_tokens_and_best_length_match_definition() {
    for (rate, k) in
        [(0.0, 0), (0.0, 9), (1.0, 0), (1.0, 1000), (0.5, 1000), (0.999, 400), (0.25, 1)]
    {
        let expected = (0..=k).map(|i| f64::powi(rate, i)).sum::<f64>();
        let call = format!("expected_tokens({rate}, {k})");
        let found = assert_accepts(&call, || expected_tokens(rate, k as usize));
        assert!(
            (found - expected).abs() <= 1e-9 * expected,
            "{call}: found {found}, expected {expected} = 1 + rate + … + rateᵏ"
        );
    }
    let mut rng = Rng::new(63);
    for _ in 0..2000 {
        let (rate, max) = (rng.uniform(), (rng.next_u64() % 20) as usize);
        let costs = Costs { row: rng.uniform() * 0.3, draft: rng.uniform() * 0.3 };
        let call = format!("best_length({rate}, {costs:?}, {max})");
        let found = assert_accepts(&call, || best_length(rate, costs, max));
        let speed = |k: usize| {
            let tokens: f64 = (0..=k as i32).map(|i| rate.powi(i)).sum();
            tokens / (1.0 + k as f64 * (costs.row + costs.draft))
        };
        let best = (0..=max).map(speed).fold(0.0, f64::max);
        assert!(
            found <= max && speed(found) >= best * (1.0 - 1e-12),
            "{call}: found {found}, which gives {} tokens for the cost of a one-row pass; the best \
             length gives {best}",
            speed(found)
        );
    }
    // A draft that costs less than it gains pays, however many there are.
    let cheap = Costs { row: 1e-6, draft: 0.0 };
    for max in [0, 1, 7, 50] {
        let found = best_length(1.0, cheap, max);
        assert!(
            found == max,
            "best_length where all drafts are accepted and almost free, at most {max}: found \
             {found}, expected {max}"
        );
    }
}

#[test]
fn task_3_observe_with_random_passes() {
    let mut rng = Rng::new(64);
    for round in 0..300 {
        let mut length = DraftLength::new(8, Costs { row: 0.1, draft: 0.0 });
        let (mut tested, mut kept, mut log) = (4.0, 3.0, Vec::new());
        for _ in 0..12 {
            let drafted = (rng.next_u64() % 9) as usize;
            let accepted = (rng.next_u64() as usize) % (drafted + 1);
            length.observe(drafted, accepted);
            log.push((drafted, accepted));
            if drafted > 0 {
                // The rejected draft was tested, and the drafts after it were not.
                let looked_at = if accepted == drafted { drafted } else { accepted + 1 };
                tested = tested * 0.875 + looked_at as f64;
                kept = kept * 0.875 + accepted as f64;
            }
            let (found, expected) = (length.rate(), kept / tested);
            assert!(
                (found - expected).abs() < 1e-12,
                "round {round}: the rate after observe of (drafted, accepted) {log:?}: found \
                 {found}, expected {expected}"
            );
        }
    }
}
