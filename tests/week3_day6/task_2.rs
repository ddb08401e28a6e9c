//! Week 3, day 6, task 2: the exact rule.

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week3::accept::{Draft, Verdict, accepts, distribution, draw_weighted, residual, verify},
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check,
    fixtures::{Case, Json},
};

use super::{fixtures, greedy, options, rows};

#[test]
pub(super) fn task_2_distribution() {
    let case = fixtures().case("task_2_distribution/options");
    let (logits, seen) = (case.numbers("logits"), case.read::<Vec<u32>>("seen"));
    let table = case.value("options").as_array().expect("options");
    let found: Vec<f32> =
        table.iter().flat_map(|row| distribution(&options(row), &logits, &seen)).collect();
    let names: Vec<String> = table.iter().map(ToString::to_string).collect();
    case.check_rows("output", &names, &tensor(&[table.len(), found.len() / table.len()], found));
}

/// At temperature 0, only one token is left. So the penalty must be applied before the temperature.
#[test]
fn task_2_distribution_applies_penalty_at_temperature_0() {
    let options = SamplerOptions { repetition_penalty: 2.0, ..greedy() };
    let call = "distribution at temperature 0, penalty 2: logits [1, 3, 2], token 1 was seen";
    let found = check::assert_accepts(call, || distribution(&options, &[1.0, 3.0, 2.0], &[1]));
    assert!(
        found == [0.0, 0.0, 1.0],
        "{call}\n  found    {found:?}\n  expected [0.0, 0.0, 1.0]: the penalty makes the logits \
         [1, 1.5, 2], so token 2 is the best"
    );
}

#[test]
fn task_2_accepts_with_probability_p_over_q() {
    for (why, p, q, uniform, expected) in [
        ("p is larger than q", 0.5, 0.25, 0.999, true),
        ("p equals q", 0.25, 0.25, 0.999, true),
        ("p / q is 0.5", 0.25, 0.5, 0.49, true),
        ("p / q is 0.5", 0.25, 0.5, 0.51, false),
        ("p / q is 0.25, and p is 0.125", 0.125, 0.5, 0.2, true),
        ("p / q is 0.25, and p is 0.125", 0.125, 0.5, 0.3, false),
        ("a lookup's draft", 0.75, 1.0, 0.7, true),
        ("a lookup's draft", 0.75, 1.0, 0.8, false),
        ("the target gives the draft probability 0", 0.0, 0.5, 0.0, false),
        ("the target gives the draft probability 1", 1.0, 0.001, 0.999, true),
    ] {
        let call = format!("{why}: accepts({p}, {q}, {uniform})");
        check::assert_answer(&call, &accepts(p, q, uniform), &expected);
    }
}

#[test]
fn task_2_residual() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_residual/") {
        let case = fixtures.case(&name);
        let (p, q) = (case.numbers("p"), case.numbers("q"));
        let found = check::assert_accepts(&name, || residual(&p, &q));
        let found: Vec<f32> = found.into_iter().map(|x| x as f32).collect();
        case.check("output", &tensor(&[found.len()], found));
    }
}

/// Because of rounding, `q` sums to slightly more than 1, so that `p ≤ q` everywhere.
#[test]
fn task_2_residual_returns_p_if_nothing_is_left() {
    let (p, q) = ([0.25, 0.5, 0.25], [0.25, 0.500_000_1, 0.25]);
    let call = "residual of p = [0.25, 0.5, 0.25], q = [0.25, 0.5000001, 0.25]";
    let found = check::assert_accepts(call, || residual(&p, &q));
    assert!(found == [0.25, 0.5, 0.25], "{call}\n  found    {found:?}\n  expected p");
}

/// Returns the drafts of a case, and the target's distributions.
fn verdict_case(case: &Case) -> (Vec<Draft>, Vec<Vec<f32>>) {
    let q = case.get("q").map(|q| rows(&q)).unwrap_or_default();
    let drafts = case.read::<Vec<u32>>("drafts");
    let drafts = drafts.into_iter().zip(q).map(|(token, q)| Draft { token, q }).collect();
    (drafts, rows(&case.tensor("p")))
}

#[test]
pub(super) fn task_2_verify_returns_accepted_count_and_next_token() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_verify/") {
        let case = fixtures.case(&name);
        let (drafts, p) = verdict_case(&case);
        let seeds: Vec<u64> = case.read::<Vec<u32>>("seeds").into_iter().map(u64::from).collect();
        let expected: Vec<(usize, u32)> = case
            .read::<Vec<u32>>("accepted")
            .into_iter()
            .map(|n| n as usize)
            .zip(case.read::<Vec<u32>>("next"))
            .collect();
        let run = |&seed: &u64| {
            let verdict = verify(&drafts, |i| p[i].clone(), &mut Rng::new(seed));
            (verdict.accepted, verdict.next)
        };
        let found: Vec<(usize, u32)> =
            check::assert_accepts(&name, || seeds.iter().map(run).collect());
        let what = format!(
            "{name}: verify drafts {:?} with {} seeds from {} on: (accepted drafts, next token)",
            case.read::<Vec<u32>>("drafts"),
            seeds.len(),
            seeds[0]
        );
        check::assert_answer(&what, &found, &expected);
    }
}

/// A target distribution costs a pass over the vocabulary, so none is requested after a rejected
/// draft. Each tested draft uses one random number, so that a seed gives the same result
/// everywhere.
#[test]
fn task_2_verify_requests_and_draws_no_more_than_needed() {
    let case = fixtures().case("task_2_verify/drawn");
    let (drafts, p) = verdict_case(&case);
    for seed in 0..30 {
        let (mut asked, mut rng) = (Vec::new(), Rng::new(seed));
        let target = |i: usize| {
            asked.push(i);
            p[i].clone()
        };
        let Verdict { accepted, .. } = verify(&drafts, target, &mut rng);
        check::assert_answer(
            &format!(
                "verify three drafts, {accepted} accepted: the target distributions requested"
            ),
            &asked,
            &(0..=accepted).collect(),
        );
        let looked_at = 3.min(accepted + 1);
        let mut fresh = Rng::new(seed);
        for _ in 0..=looked_at {
            fresh.uniform();
        }
        assert!(
            rng.next_u64() == fresh.next_u64(),
            "seed {seed}: verify tested {looked_at} of three drafts. It must draw one random \
             number for each tested draft and one for the next token, no more and no fewer"
        );
    }
}

/// A model whose logits depend only on the last token: `logits [V, V]`.
struct Table(Vec<Vec<f32>>);

impl Table {
    fn distributions(&self, options: &SamplerOptions) -> impl Fn(&[u32]) -> Vec<f32> {
        // Each text of at most five tokens is computed only once.
        let known = std::cell::RefCell::new(vec![None; 4usize.pow(6)]);
        move |seen| {
            let at = seen.iter().fold(1, |at, &token| at * 4 + token as usize);
            let last = *seen.last().expect("a token") as usize;
            let compute = || distribution(options, &self.0[last], seen);
            known.borrow_mut()[at].get_or_insert_with(compute).clone()
        }
    }
}

/// Generates 20,000 texts of three tokens with random drafts, two per pass, and 4,000 with certain
/// drafts. Compares their frequencies with the probabilities of texts without drafts. One in a
/// million correct solutions has a χ² above `critical`.
#[track_caller]
fn check_texts(sampling: &str) {
    let case = fixtures().case(&format!("task_2_text/{sampling}"));
    let about = |name: &str| case.value(name).clone();
    let settings: Json = ["temperature", "top_k", "top_p", "min_p", "penalty"]
        .into_iter()
        .map(|name| (name.to_owned(), about(name)))
        .collect();
    let options = options(&settings);
    let (target, draft) = (Table(rows(&case.tensor("target"))), Table(rows(&case.tensor("draft"))));
    let (target, draft) = (target.distributions(&options), draft.distributions(&options));
    let probabilities: Vec<f64> =
        case.tensor("probabilities").iter().map(|&p| f64::from(p)).collect();
    let critical = case.scalar("critical");
    let all = case.count("texts");
    for (drafted, texts) in
        [("drawn from the drafter's distribution", all), ("taken as certain", all / 5)]
    {
        let mut rng = Rng::new(2026);
        let mut counts = vec![0usize; probabilities.len()];
        for _ in 0..texts {
            let mut text = vec![0];
            while text.len() < 4 {
                let mut seen = text.clone();
                let mut drafts = Vec::new();
                for _ in 0..2 {
                    let q = draft(&seen);
                    let draft = if drafted == "taken as certain" {
                        let best = (0..q.len()).max_by(|&a, &b| q[a].total_cmp(&q[b]));
                        Draft::certain(best.expect("a token") as u32, q.len())
                    } else {
                        let weights: Vec<f64> = q.iter().map(|&x| f64::from(x)).collect();
                        Draft { token: draw_weighted(&weights, rng.uniform()), q }
                    };
                    seen.push(draft.token);
                    drafts.push(draft);
                }
                let verdict = verify(&drafts, |i| target(&seen[..text.len() + i]), &mut rng);
                seen.truncate(text.len() + verdict.accepted);
                text = seen;
                text.push(verdict.next);
            }
            counts[text[1..4].iter().fold(0, |at, &token| at * 4 + token as usize)] += 1;
        }
        let (mut statistic, mut rare) = (0.0, (0.0, 0.0));
        let mut add = |count: f64, expected: f64| {
            statistic += (count - expected).powi(2) / expected.max(1e-9);
        };
        for (&count, p) in counts.iter().zip(&probabilities) {
            let (count, expected) = (count as f64, p * texts as f64);
            if expected >= 10.0 {
                add(count, expected);
            } else {
                rare = (rare.0 + count, rare.1 + expected);
            }
        }
        add(rare.0, rare.1);
        assert!(
            statistic <= critical,
            "{sampling}: {texts} texts of three tokens, drafts {drafted}: χ² is \
             {statistic:.1}, above the limit {critical}. Speculation changes the distribution of \
             the texts\n  drawn    {counts:?}\n  expected {:?}",
            probabilities.iter().map(|p| (p * texts as f64).round()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn task_2_text_distribution_is_preserved() {
    check_texts("plain");
}

#[test]
fn task_2_text_distribution_at_temperature_0() {
    check_texts("greedy");
}

#[test]
fn task_2_text_distribution_at_other_temperatures() {
    check_texts("sharp");
    check_texts("flat");
}

#[test]
fn task_2_text_distribution_with_top_k_top_p_min_p() {
    for cut in ["top_k", "top_p", "min_p"] {
        check_texts(cut);
    }
}

#[test]
fn task_2_text_distribution_with_penalty() {
    check_texts("penalty");
    check_texts("all");
}
