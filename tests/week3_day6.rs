//! Week 3, day 6: drafts from the text, the exact rule, how many drafts pay, a draft model, and a
//! pass that verifies.
//!
//! Expected values: `python-ref/oracle/week3_day6.py`; texts of whole models: `week3_day1.py`.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use tiny_llm::{
    week1::{
        generate::{FinishReason, Limits},
        sampling::{Rng, Sampler, SamplerOptions},
    },
    week2::{
        cache::{CacheType, KvCache},
        generate::Session,
        kernels::{Rung, vector::TILE},
        load::{self, Rope},
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::RopeLayout,
    },
    week3::{
        accept::{Draft, Verdict, accepts, distribution, draw_weighted, residual, verify},
        draft_length::{Costs, DraftLength, PROBE, best_length, expected_tokens},
        drafter::{DraftModel, Drafter, LookupDrafter},
        lookup::draft_from_text,
        paged::PagedCache,
        speculate::Speculation,
    },
};
use tiny_llm_formats::{Tensor, config::ModelConfig, tensor::tensor};
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, Fixtures, Json},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day6")
}

fn values(x: &Tensor) -> Vec<f32> {
    x.iter().copied().collect()
}

fn rows(x: &Tensor) -> Vec<Vec<f32>> {
    x.outer_iter().map(|row| row.iter().copied().collect()).collect()
}

fn ids(value: &Json) -> Vec<u32> {
    let list = value.as_array().expect("a list");
    list.iter().map(|id| id.as_u64().expect("a whole number") as u32).collect()
}

fn greedy() -> SamplerOptions {
    SamplerOptions { temperature: 0.0, ..SamplerOptions::default() }
}

fn options(value: &Json) -> SamplerOptions {
    let number = |name: &str| value[name].as_f64().expect("a number") as f32;
    SamplerOptions {
        temperature: number("temperature"),
        top_k: value["top_k"].as_u64().expect("a count") as usize,
        top_p: number("top_p"),
        min_p: number("min_p"),
        repetition_penalty: number("penalty"),
    }
}

// Task 1

/// Why, the text, the longest end, `k`, and the draft.
type Lookup = (&'static str, &'static [u32], usize, usize, &'static [u32]);

const LOOKUPS: [Lookup; 13] = [
    ("a phrase that occurred before", &[1, 2, 3, 4, 5, 1, 2], 3, 3, &[3, 4, 5]),
    (
        "the longest end counts, though a shorter one came later",
        &[1, 2, 7, 3, 2, 8, 1, 2],
        3,
        1,
        &[7],
    ),
    ("of two occurrences the last", &[1, 2, 7, 0, 1, 2, 8, 0, 1, 2], 2, 2, &[8, 0]),
    ("ends of one token at most", &[4, 3, 7, 5, 3, 8, 4, 3], 1, 1, &[8]),
    ("ends of two tokens at most", &[6, 4, 3, 7, 5, 4, 3, 8, 6, 4, 3], 2, 1, &[8]),
    ("only a single token occurred before", &[9, 2, 6, 1, 2], 3, 2, &[6, 1]),
    ("what follows reaches into the end", &[1, 2, 1, 2], 2, 5, &[1, 2]),
    ("an occurrence that overlaps the end", &[1, 2, 1, 2, 1, 2, 1], 3, 4, &[2, 1]),
    ("an end that occurs nowhere before", &[1, 2, 3], 2, 4, &[]),
    ("a single token", &[1], 3, 4, &[]),
    ("an empty text", &[], 3, 4, &[]),
    ("no drafts are asked for", &[1, 1, 1], 3, 0, &[]),
    ("ends of no tokens", &[1, 1, 1], 0, 4, &[]),
];

#[test]
fn task_1_what_followed_before() {
    for (why, text, longest, k, expected) in LOOKUPS {
        let call = format!("{why}: draft_from_text({text:?}, {longest}, {k})");
        let found = check::assert_accepts(&call, || draft_from_text(text, longest, k));
        check::assert_answer(&call, &found, &expected);
    }
}

/// The definition, word by word, against texts of few different tokens.
#[test]
fn task_1_any_text() {
    let mut rng = Rng::new(61);
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    for _ in 0..2000 {
        let tokens = 2 + below(4);
        let text: Vec<u32> = (0..below(24)).map(|_| below(tokens as u64) as u32).collect();
        let (longest, k) = (below(6), below(6));
        let mut expected: &[u32] = &[];
        'ends: for n in (1..=longest).rev().filter(|n| *n < text.len()) {
            for start in (0..text.len() - n).rev() {
                if text[start..start + n] == text[text.len() - n..] {
                    let from = start + n;
                    expected = &text[from..text.len().min(from + k)];
                    break 'ends;
                }
            }
        }
        let call = format!("draft_from_text({text:?}, {longest}, {k})");
        let found = check::assert_accepts(&call, || draft_from_text(&text, longest, k));
        check::assert_answer(&call, &found, &expected);
    }
}

// Task 2

const RULE: &Part = &Part {
    task: "week3-day6 task 2",
    what: "the exact rule",
    check: || {
        task_2_distribution();
        task_2_verdicts();
    },
};

#[test]
fn task_2_distribution() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_distribution/options");
    let (logits, seen) = (values(&case.tensor("logits")), ids(case.value("seen")));
    let table = case.value("options").as_array().expect("options");
    let found: Vec<f32> =
        table.iter().flat_map(|row| distribution(&options(row), &logits, &seen)).collect();
    let names: Vec<String> = table.iter().map(ToString::to_string).collect();
    case.check_rows("output", &names, &tensor(&[table.len(), found.len() / table.len()], found));
}

#[test]
fn task_2_accepts() {
    for (why, p, q, uniform, expected) in [
        ("p is larger than q", 0.5, 0.25, 0.999, true),
        ("p is q", 0.25, 0.25, 0.999, true),
        ("p / q is 0.5", 0.25, 0.5, 0.49, true),
        ("p / q is 0.5", 0.25, 0.5, 0.51, false),
        ("p / q is 0.25, and p is 0.125", 0.125, 0.5, 0.2, true),
        ("p / q is 0.25, and p is 0.125", 0.125, 0.5, 0.3, false),
        ("a lookup's draft", 0.75, 1.0, 0.7, true),
        ("a lookup's draft", 0.75, 1.0, 0.8, false),
        ("the target cannot give it", 0.0, 0.5, 0.0, false),
        ("the target is certain of it", 1.0, 0.001, 0.999, true),
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
        let (p, q) = (values(&case.tensor("p")), values(&case.tensor("q")));
        let found = check::assert_accepts(&name, || residual(&p, &q));
        let found: Vec<f32> = found.into_iter().map(|x| x as f32).collect();
        case.check("output", &tensor(&[found.len()], found));
    }
}

/// Two sums that should be 1 differ in the last bit, so that `p ≤ q` everywhere.
#[test]
fn task_2_a_residual_of_nothing() {
    let (p, q) = ([0.25, 0.5, 0.25], [0.25, 0.500_000_1, 0.25]);
    let call = "residual of p = [0.25, 0.5, 0.25], q = [0.25, 0.5000001, 0.25]";
    let found = check::assert_accepts(call, || residual(&p, &q));
    assert!(found == [0.25, 0.5, 0.25], "{call}\n  found    {found:?}\n  expected p");
}

/// The drafts of a case, and the target's distributions.
fn verdict_case(case: &Case) -> (Vec<Draft>, Vec<Vec<f32>>) {
    let q = case.get("q").map(|q| rows(&q)).unwrap_or_default();
    let drafts = ids(case.value("drafts"));
    let drafts = drafts.into_iter().zip(q).map(|(token, q)| Draft { token, q }).collect();
    (drafts, rows(&case.tensor("p")))
}

#[test]
fn task_2_verdicts() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_verify/") {
        let case = fixtures.case(&name);
        let (drafts, p) = verdict_case(&case);
        let seeds: Vec<u64> = ids(case.value("seeds")).into_iter().map(u64::from).collect();
        let expected: Vec<(usize, u32)> = ids(case.value("accepted"))
            .into_iter()
            .map(|n| n as usize)
            .zip(ids(case.value("next")))
            .collect();
        let run = |&seed: &u64| {
            let verdict = verify(&drafts, |i| p[i].clone(), &mut Rng::new(seed));
            (verdict.accepted, verdict.next)
        };
        let found: Vec<(usize, u32)> =
            check::assert_accepts(&name, || seeds.iter().map(run).collect());
        let what = format!(
            "{name}: drafts {:?}, generators with {} seeds from {} on; (drafts that are kept, the \
             token behind them)",
            ids(case.value("drafts")),
            seeds.len(),
            seeds[0]
        );
        check::assert_answer(&what, &found, &expected);
    }
}

/// A distribution of the target costs a pass over the vocabulary: behind a refused draft nobody needs
/// one. And each step takes one number, so that a seed means the same everywhere.
#[test]
fn task_2_no_more_than_is_needed() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_verify/drawn");
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
                "three drafts, of which {accepted} are kept: the distributions that are asked for"
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
            "seed {seed}: three drafts, of which {looked_at} are looked at: the generator has then \
             given a number for each, and one for the last token, no more and no fewer"
        );
    }
}

/// A model that looks at the last token alone, `logits [V, V]`.
struct Table(Vec<Vec<f32>>);

impl Table {
    fn distributions(&self, options: &SamplerOptions) -> impl Fn(&[u32]) -> Vec<f32> {
        // What each text of at most five tokens leads to is computed once.
        let known = std::cell::RefCell::new(vec![None; 4usize.pow(6)]);
        move |seen| {
            let at = seen.iter().fold(1, |at, &token| at * 4 + token as usize);
            let last = *seen.last().expect("a token") as usize;
            let compute = || distribution(options, &self.0[last], seen);
            known.borrow_mut()[at].get_or_insert_with(compute).clone()
        }
    }
}

/// 100,000 texts of three tokens with drafts that are drawn, two in a pass, and 20,000 with drafts
/// that are certain, against the probabilities that the texts have
/// without any draft. A χ² above `critical` would be met once in a million correct solutions.
#[track_caller]
fn check_texts(sampling: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_text/{sampling}"));
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
    for (drafted, texts) in [("drawn from its own distribution", all), ("certain", all / 5)] {
        let mut rng = Rng::new(2026);
        let mut counts = vec![0usize; probabilities.len()];
        for _ in 0..texts {
            let mut text = vec![0];
            while text.len() < 4 {
                let mut seen = text.clone();
                let mut drafts = Vec::new();
                for _ in 0..2 {
                    let q = draft(&seen);
                    let draft = if drafted == "certain" {
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
            "{sampling}: {texts} texts of three tokens with drafts that are {drafted}: χ² over \
             the texts is {statistic:.1}, and chance does not exceed {critical}: speculation has \
             changed what the model says\n  drawn    {counts:?}\n  expected {:?}",
            probabilities.iter().map(|p| (p * texts as f64).round()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn task_2_texts_as_without_drafts() {
    check_texts("plain");
}

#[test]
fn task_2_texts_at_temperature_0() {
    check_texts("greedy");
}

#[test]
fn task_2_texts_at_other_temperatures() {
    check_texts("sharp");
    check_texts("flat");
}

#[test]
fn task_2_texts_with_cuts() {
    for cut in ["top_k", "top_p", "min_p"] {
        check_texts(cut);
    }
}

#[test]
fn task_2_texts_with_a_penalty() {
    check_texts("penalty");
    check_texts("all");
}

// Task 3

#[test]
fn task_3_expected_tokens() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_length/table");
    for row in case.value("expected").as_array().expect("rows") {
        let number = |i: usize| row[i].as_f64().expect("a number");
        let (rate, k, expected) = (number(0), number(1) as usize, number(2));
        let call = format!("expected_tokens({rate}, {k})");
        let found = check::assert_accepts(&call, || expected_tokens(rate, k));
        assert!(
            (found - expected).abs() < 1e-9,
            "{call}\n  found    {found}\n  expected {expected}"
        );
    }
}

#[test]
fn task_3_best_length() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_length/table");
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for row in case.value("best").as_array().expect("rows") {
        let number = |i: usize| row[i].as_f64().expect("a number");
        let costs = Costs { row: number(1), draft: number(2) };
        let call = format!("best_length({}, {costs:?}, {})", number(0), number(3));
        let best =
            check::assert_accepts(&call, || best_length(number(0), costs, number(3) as usize));
        found.push((call.clone(), best));
        expected.push((call, number(4) as usize));
    }
    check::assert_answer("the best numbers of drafts", &found, &expected);
    // What costs nothing and brings nothing is left alone.
    let free = Costs { row: 0.0, draft: 0.0 };
    check::assert_answer(
        "nothing is accepted and nothing costs anything: of equally good numbers the smallest\n ",
        &best_length(0.0, free, 8),
        &0,
    );
}

#[track_caller]
fn same_rate(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{what}\n  found    {found}\n  expected {expected}");
}

#[test]
fn task_3_what_is_counted() {
    let costs = Costs { row: 0.5, draft: 0.0 };
    for (why, drafted, accepted, rate) in [
        ("all four are kept", 4, 4, (3.0 * 0.875 + 4.0) / (4.0 * 0.875 + 4.0)),
        ("the first of four is refused", 4, 0, 3.0 * 0.875 / (4.0 * 0.875 + 1.0)),
        ("the third of four is refused", 4, 2, (3.0 * 0.875 + 2.0) / (4.0 * 0.875 + 3.0)),
        ("the last of four is refused", 4, 3, (3.0 * 0.875 + 3.0) / (4.0 * 0.875 + 4.0)),
        ("nothing was drafted", 0, 0, 0.75),
    ] {
        let mut length = DraftLength::new(4, costs);
        let call = format!("{why}: observe({drafted}, {accepted}), and then the rate");
        check::assert_accepts(&call, || length.observe(drafted, accepted));
        same_rate(&call, length.rate(), rate);
    }
}

#[test]
fn task_3_pass_by_pass() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_length/lives");
    for life in case.value("lives").as_array().expect("lives") {
        let number = |name: &str| life[name].as_f64().expect("a number");
        let costs = Costs { row: number("row"), draft: number("draft") };
        let max = number("max") as usize;
        let mut length = DraftLength::new(max, costs);
        let mut before = Vec::new();
        for step in life["steps"].as_array().expect("steps") {
            let count = |i: usize| step[i].as_u64().expect("a count") as usize;
            let what = format!("at most {max} drafts, {costs:?}, after (drafted, kept) {before:?}");
            let found = check::assert_accepts(&what, || length.choose());
            assert!(
                found == count(0),
                "{what}: the next number of drafts\n  found    {found}\n  expected {}",
                count(0)
            );
            length.observe(count(1), count(2));
            before.push((count(1), count(2)));
            let rate = step[3].as_f64().expect("a rate");
            same_rate(&format!("{what}, then {:?}: the rate", before.last()), length.rate(), rate);
        }
    }
    assert_eq!(PROBE, 16, "the oracle's lives are for this number of passes between two trials");
}

// Tasks 4 and 5: models

/// One of two models with 37 tokens that share nothing else, so that they seldom agree.
fn model(family: &str) -> Arc<Model> {
    altered(family, &|_, x| x)
}

/// The same, each weight altered.
fn altered(family: &str, alter: &dyn Fn(usize, f32) -> f32) -> Arc<Model> {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case(&format!("task_4_engine/{family}"));
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    let model = load::build(config, &rope, usize::MAX, &mut |name, shape| {
        let weight = case.tensor(name);
        let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
        let values: Vec<f32> = weight.iter().enumerate().map(|(i, x)| alter(i, *x)).collect();
        Ok(Matrix::from_f32(rows, cols, &values))
    });
    Arc::new(model.expect("all weights are there"))
}

/// A model that agrees with `model("llama")` often, and not always.
fn similar() -> Arc<Model> {
    altered("llama", &|i, x| if i % 3 == 0 { x * 1.15 } else { x })
}

fn session(model: Arc<Model>, context: usize) -> Session {
    // Nothing of week 2's later days is needed.
    let plan =
        Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(1) };
    Session::new(model, Arc::new(plan), context, CacheType::F32)
}

/// Prompts of the models, and what each greedily writes behind them.
fn texts(family: &str) -> Vec<(Vec<u32>, Vec<u32>)> {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case(&format!("task_4_engine/{family}"));
    let lists = |name: &str| -> Vec<Vec<u32>> {
        case.value(name).as_array().expect("lists").iter().map(ids).collect()
    };
    lists("prompts").into_iter().zip(lists("greedy")).collect()
}

const VOCABULARY: usize = 37;

fn draft_model(model: Arc<Model>, context: usize) -> DraftModel {
    DraftModel::new(session(model, context), VOCABULARY).expect("the same vocabulary")
}

#[track_caller]
fn draft_tokens(
    drafter: &mut DraftModel,
    text: &[u32],
    k: usize,
    sampling: &SamplerOptions,
    seed: u64,
) -> Vec<Draft> {
    let call = format!("DraftModel::draft behind {text:?}, {k} tokens");
    check::assert_accepts(&call, || drafter.draft(text, k, sampling, &mut Rng::new(seed)))
        .unwrap_or_else(|error| panic!("{call}: {error:#}"))
}

fn tokens(drafts: &[Draft]) -> Vec<u32> {
    drafts.iter().map(|draft| draft.token).collect()
}

#[test]
fn task_4_what_the_model_would_write() {
    for family in ["llama", "qwen3"] {
        for (prompt, answer) in texts(family) {
            let mut drafter = draft_model(model(family), 40);
            for k in [0, 1, 3, 7] {
                let found = draft_tokens(&mut drafter, &prompt, k, &greedy(), 1);
                check::assert_answer(
                    &format!("{family}, behind {prompt:?}: the {k} tokens that it proposes"),
                    &tokens(&found),
                    &answer[..k].to_vec(),
                );
            }
        }
    }
}

/// Refused drafts must leave no trace: what is proposed next is what a model proposes that has seen
/// nothing but the text.
#[test]
fn task_4_refused_drafts_are_forgotten() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let other = |token: u32| (token + 1) % VOCABULARY as u32;
    for kept in 0..4 {
        let mut drafter = draft_model(model("llama"), 40);
        draft_tokens(&mut drafter, &prompt, 5, &greedy(), 1);
        let text = [&prompt[..], &answer[..kept], &[other(answer[kept])]].concat();
        let found = tokens(&draft_tokens(&mut drafter, &text, 5, &greedy(), 1));
        let fresh = draft_tokens(&mut draft_model(model("llama"), 40), &text, 5, &greedy(), 1);
        check::assert_answer(
            &format!(
                "five tokens were proposed behind {prompt:?}, {kept} of them kept; then behind \
                 {text:?}, as a model proposes that has seen nothing else\n "
            ),
            &found,
            &tokens(&fresh),
        );
    }
}

/// Everything that stays in the text stays in the draft's cache.
#[test]
fn task_4_nothing_is_computed_twice() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let mut drafter = draft_model(model("llama"), 40);
    let computed = |drafter: &DraftModel| drafter.session().cache().computed();
    draft_tokens(&mut drafter, &prompt, 4, &greedy(), 1);
    check::assert_answer(
        "behind a prompt of 5 tokens 4 are proposed: the positions that are computed, 5 of the \
         prompt, and each proposed token but the last\n ",
        &computed(&drafter),
        &8,
    );
    let text = [&prompt[..], &answer[..2], &[0]].concat();
    draft_tokens(&mut drafter, &text, 2, &greedy(), 1);
    check::assert_answer(
        "two of them stay, a third token is another; two more are proposed: the positions that are \
         computed in all, 8 as before, the other token, and a proposed one\n ",
        &computed(&drafter),
        &10,
    );
}

/// Each draft comes with the distribution that it was drawn from, under the request's own options and
/// with the drafts before it as seen.
#[test]
fn task_4_drawn_with_the_requests_options() {
    let (prompt, _) = texts("llama").swap_remove(0);
    let sampling = SamplerOptions {
        temperature: 0.8,
        top_k: 9,
        top_p: 0.95,
        min_p: 0.01,
        repetition_penalty: 1.8,
    };
    resting_on(&[RULE], || {
        for seed in 0..10 {
            let mut drafter = draft_model(model("llama"), 40);
            let drafts = draft_tokens(&mut drafter, &prompt, 4, &sampling, seed);
            let (mut text, mut rng) = (prompt.clone(), Rng::new(seed));
            let mut alone = session(model("llama"), 40);
            for (i, draft) in drafts.iter().enumerate() {
                alone.clear();
                let q = distribution(&sampling, alone.feed(&text, 8).expect("it fits"), &text);
                let weights: Vec<f64> = q.iter().map(|&x| f64::from(x)).collect();
                let token = draw_weighted(&weights, rng.uniform());
                let what = format!("seed {seed}, draft {i} behind {text:?}");
                check::assert_agrees(
                    &format!("{what}: its distribution"),
                    &tensor(&[VOCABULARY], draft.q.clone()),
                    &tensor(&[VOCABULARY], q),
                    1e-4,
                    "a draft's distribution is that of the model's logits behind the text and the \
                     drafts before it, under the request's options, with all of them as seen",
                );
                check::assert_answer(
                    &format!("{what}: drawn from it with one number of the generator\n "),
                    &draft.token,
                    &token,
                );
                text.push(draft.token);
            }
            assert_eq!(drafts.len(), 4, "seed {seed}: four drafts were asked for");
        }
    });
}

/// A draft model may have a shorter context than its target.
#[test]
fn task_4_where_its_context_ends() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    for (context, expected) in [(5, 1), (6, 2), (7, 3), (4, 0), (2, 0)] {
        let mut drafter = draft_model(model("llama"), context);
        let found = draft_tokens(&mut drafter, &prompt, 6, &greedy(), 1);
        check::assert_answer(
            &format!(
                "a prompt of 5 tokens, a draft model with room for {context}; six are asked for"
            ),
            &tokens(&found),
            &answer[..expected].to_vec(),
        );
    }
}

#[test]
fn task_4_another_vocabulary_is_refused() {
    let drafts = draft_tokens(&mut draft_model(model("llama"), 40), &[1, 2], 1, &greedy(), 1);
    assert_eq!(drafts.len(), 1, "drafts of a model with the target's vocabulary");
    let Err(error) = DraftModel::new(session(model("llama"), 8), 1536) else {
        panic!("a draft model with 37 tokens for a target with 1,536 was taken");
    };
    let error = error.to_string();
    assert!(error.contains("37") && error.contains("1536"), "{error}");
}

// Task 5

/// Proposes what a test says: for each length of the text a list of tokens.
struct Scripted<F>(F);

impl<F: FnMut(&[u32], usize) -> Vec<u32>> Drafter for Scripted<F> {
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        _sampling: &SamplerOptions,
        _rng: &mut Rng,
    ) -> anyhow::Result<Vec<Draft>> {
        let tokens = (self.0)(text, k);
        Ok(tokens.into_iter().map(|token| Draft::certain(token, VOCABULARY)).collect())
    }
}

/// Rows and drafts that cost next to nothing: as many drafts as are allowed, whatever happens.
fn always(max: usize) -> DraftLength {
    DraftLength::new(max, Costs { row: 1e-9, draft: 0.0 })
}

fn speculation<D: Drafter>(drafter: D, max: usize) -> Speculation<D> {
    Speculation::new(drafter, always(max))
}

#[track_caller]
fn step<D: Drafter>(
    speculation: &mut Speculation<D>,
    session: &mut Session,
    text: &mut Vec<u32>,
    room: usize,
) {
    let call = format!("a step behind {text:?}, with room for {room} tokens");
    let mut rng = Rng::new(5);
    check::assert_accepts(&call, || {
        speculation.step(session, text, (room, 4), &greedy(), &mut rng)
    })
    .unwrap_or_else(|error| panic!("{call}: {error:#}"));
}

/// Drafts of which the first so many are right.
fn right_then_wrong(right: usize, wrong: usize) -> impl FnMut(&[u32], usize) -> Vec<u32> {
    let (prompt, answer) = texts("llama").swap_remove(0);
    move |text, k| {
        let at = text.len() - prompt.len();
        let good = answer[at..].iter().copied().take(right);
        let bad = answer[at..].iter().skip(right).map(|&t| (t + 1) % VOCABULARY as u32);
        good.chain(bad.take(wrong)).take(k).collect()
    }
}

#[test]
fn task_5_one_step() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    for (right, wrong) in [(0, 0), (3, 0), (0, 3), (2, 2), (1, 1)] {
        let mut session = session(model("llama"), 40);
        let mut speculation = speculation(Scripted(right_then_wrong(right, wrong)), 6);
        let mut text = prompt.clone();
        let why = format!(
            "a prompt of {} tokens, then {right} drafts that are right and {wrong} that are not",
            prompt.len()
        );
        resting_on(&[RULE], || step(&mut speculation, &mut session, &mut text, 7));
        let expected = [&prompt[..], &answer[..=right]].concat();
        check::assert_answer(&format!("{why}: the text after a step"), &text, &expected);
        check::assert_answer(
            &format!("{why}: what the session holds, all but the last token"),
            &session.tokens().to_vec(),
            &expected[..expected.len() - 1].to_vec(),
        );
        check::assert_answer(
            &format!("{why}: positions in the cache, and positions that were computed\n "),
            &(session.cache().len(0), session.cache().computed()),
            &(expected.len() - 1, prompt.len() + right + wrong),
        );
        let counts = speculation.counts();
        check::assert_answer(
            &format!("{why}: passes, drafted, accepted, refused\n "),
            &(counts.passes, counts.drafted, counts.accepted, counts.refused),
            &(1, (right + wrong) as u64, right as u64, u64::from(wrong > 0)),
        );
    }
}

/// What is accepted, refused and rewound in one pass must not show in the next: texts of many passes,
/// whoever proposes and however much of it is right.
#[test]
fn task_5_the_same_greedy_text() {
    let similar = similar();
    for (prompt, answer) in texts("llama") {
        for max in [1, 4] {
            let drafters: [(&str, Box<dyn Drafter>); 5] = [
                ("the text so far", Box::new(LookupDrafter { longest: 3, vocabulary: VOCABULARY })),
                ("a model that shares nothing", Box::new(draft_model(model("qwen3"), 40))),
                ("a similar model", Box::new(draft_model(Arc::clone(&similar), 40))),
                ("the model itself", Box::new(draft_model(model("llama"), 40))),
                ("somebody who is wrong", Box::new(Scripted(|_: &[u32], k: usize| vec![36; k]))),
            ];
            for (who, drafter) in drafters {
                let what = format!("drafts of {who}, at most {max} in a pass, behind {prompt:?}");
                let mut session = session(model("llama"), 40);
                let mut speculation = speculation(drafter, max);
                let mut text = prompt.clone();
                resting_on(&[RULE], || {
                    while text.len() < prompt.len() + answer.len() {
                        let room = prompt.len() + answer.len() - text.len();
                        let before = text.len();
                        step(&mut speculation, &mut session, &mut text, room);
                        let new = text.len() - before;
                        assert!(
                            (1..=room).contains(&new),
                            "{what}: {new} new tokens, where there was room for {room}"
                        );
                    }
                });
                check::assert_answer(
                    &format!("{what}: the text that the model alone would write"),
                    &text[prompt.len()..].to_vec(),
                    &answer,
                );
                let counts = speculation.counts();
                check::assert_answer(
                    &format!(
                        "{what}: positions that were computed: the prompt, and then in each pass \
                         its drafts and, in all but the first, the last token of the text\n "
                    ),
                    &(session.cache().computed() as u64),
                    &(prompt.len() as u64 + counts.drafted + counts.passes - 1),
                );
                if who == "the model itself" {
                    check::assert_answer(
                        &format!("{what}: accepted of what was drafted\n "),
                        &counts.accepted,
                        &counts.drafted,
                    );
                }
            }
        }
    }
}

/// In a cache of pages, what is refused gives back the pages that it alone had (day 3), and the text is
/// the same.
#[test]
fn task_5_rewinds_across_pages() {
    let (model, mut rng) = (model("llama"), Rng::new(8));
    let prompt: Vec<u32> = (0..TILE - 3).map(|_| (rng.next_u64() % 37) as u32).collect();
    let shape = session(Arc::clone(&model), 96).cache().shape();
    let paged = PagedCache::new(shape, TILE, 3, CacheType::F32);
    let plan = Arc::clone(&session(Arc::clone(&model), 8).plan);
    let mut session_in_pages = Session::with_cache(Arc::clone(&model), plan, paged);
    let mut dense = session(model, 96);
    let wrong = |_: &[u32], k: usize| vec![36; k];
    let (mut here, mut there) = (speculation(Scripted(wrong), 5), speculation(Scripted(wrong), 5));
    let (mut text, mut expected) = (prompt.clone(), prompt);
    resting_on(&[RULE], || {
        for _ in 0..12 {
            let call = format!("a step in pages of {TILE} positions, behind {} tokens", text.len());
            check::assert_accepts(&call, || {
                let mut rng = Rng::new(5);
                here.step(&mut session_in_pages, &mut text, (9, 8), &greedy(), &mut rng)
            })
            .unwrap_or_else(|error| panic!("{call}: {error:#}"));
            step(&mut there, &mut dense, &mut expected, 9);
            check::assert_answer(&format!("{call}: the text"), &text, &expected);
            let cache = session_in_pages.cache();
            let pages = cache.table(0).len();
            check::assert_answer(
                &format!("{call}: positions in the cache, its pages, and free pages of 3\n "),
                &(cache.len(0), pages, cache.pool().num_free()),
                &(text.len() - 1, (text.len() - 1).div_ceil(TILE), 3 - pages),
            );
        }
    });
}

/// A penalty looks at all tokens before, and the drafts of a pass are among them.
#[test]
fn task_5_a_penalty_sees_the_drafts() {
    let sampling = SamplerOptions { repetition_penalty: 1.6, ..greedy() };
    for (prompt, _) in texts("llama") {
        let mut alone = session(model("llama"), 40);
        let mut sampler = Sampler { options: sampling.clone(), rng: Rng::new(0) };
        let (mut expected, limits) = (prompt.clone(), limits(14, &[]));
        alone
            .generate(
                &prompt,
                8,
                &limits,
                |logits, seen| sampler.choose(logits, seen),
                |token| {
                    expected.push(token);
                    ControlFlow::Continue(())
                },
            )
            .expect("a good prompt");
        let script = expected.clone();
        let right = move |text: &[u32], k: usize| -> Vec<u32> {
            script[text.len()..].iter().copied().take(k).collect()
        };
        let mut speculation = speculation(Scripted(right), 6);
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        resting_on(&[RULE], || {
            while text.len() < expected.len() {
                let room = expected.len() - text.len();
                let mut rng = Rng::new(1);
                speculation
                    .step(&mut session, &mut text, (room, 8), &sampling, &mut rng)
                    .expect("a good text");
            }
        });
        check::assert_answer(
            &format!(
                "behind {prompt:?}, greedily with a repetition penalty of 1.6, every draft right: \
                 the text that `Session::generate` writes with week 1's sampler\n "
            ),
            &text,
            &expected,
        );
        check::assert_answer(
            &format!("behind {prompt:?}: accepted of what was drafted\n "),
            &speculation.counts().accepted,
            &speculation.counts().drafted,
        );
    }
}

/// What was accepted reaches the count by which the number of drafts is chosen.
#[test]
fn task_5_the_number_of_drafts_follows() {
    let (prompt, _) = texts("llama").swap_remove(0);
    for (right, wrong, rate) in [(3, 0, 6.5 / 6.5), (0, 3, 2.625 / 4.5), (2, 1, 4.625 / 6.5)] {
        let costs = Costs { row: 1e-9, draft: 0.0 };
        let mut speculation =
            Speculation::new(Scripted(right_then_wrong(right, wrong)), DraftLength::new(6, costs));
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        step(&mut speculation, &mut session, &mut text, 7);
        let rate = if wrong == 0 { 5.625 / 6.5 } else { rate };
        same_rate(
            &format!("three drafts, of which {right} are kept: the rate afterwards"),
            speculation.length.rate(),
            rate,
        );
    }
    let asked = std::cell::RefCell::new(Vec::new());
    let drafter = Scripted(|_: &[u32], k: usize| {
        asked.borrow_mut().push(k);
        Vec::new()
    });
    let mut speculation = Speculation::new(drafter, always(5));
    let (mut session, mut text) = (session(model("llama"), 40), prompt);
    for room in [9, 3, 1] {
        step(&mut speculation, &mut session, &mut text, room);
    }
    check::assert_answer(
        "at most 5 drafts, and room for 9, then 3, then 1 tokens, of which one is the model's own: \
         the drafts that are asked for\n ",
        &*asked.borrow(),
        &vec![5, 2, 0],
    );
}

#[test]
fn task_5_an_empty_text_is_an_error() {
    let mut session = session(model("llama"), 40);
    let mut text = Vec::new();
    let mut speculation = speculation(Scripted(|_: &[u32], _| Vec::new()), 4);
    let step = speculation.step(&mut session, &mut text, (4, 8), &greedy(), &mut Rng::new(1));
    assert!(step.is_err(), "an empty text: there is no token whose logits could be read");
}

fn limits(max_new_tokens: usize, stop: &[u32]) -> Limits {
    let stop_tokens = HashSet::from_iter(stop.iter().copied());
    Limits { max_new_tokens, context: 40, stop_tokens }
}

/// A text may end within what a pass accepted; what lies behind its end is not told and not kept.
#[test]
fn task_5_a_text_ends_where_it_would() {
    let (prompt, answer) = texts("llama").swap_remove(0);
    let right = |text: &[u32], k: usize| -> Vec<u32> {
        let (prompt, answer) = texts("llama").swap_remove(0);
        answer[text.len() - prompt.len()..].iter().copied().take(k).collect()
    };
    let end = |why: &str, limits: &Limits, enough: usize| {
        let mut session = session(model("llama"), 40);
        let (mut speculation, mut told) = (speculation(Scripted(right), 6), Vec::new());
        let call = format!("{why}: drafts that are all right, six in a pass");
        let reason = resting_on(&[RULE], || {
            let on_token = |token| {
                told.push(token);
                if told.len() == enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let mut rng = Rng::new(1);
            let sampled = (&greedy(), &mut rng);
            speculation
                .generate(&mut session, (&prompt, 3), limits, sampled, on_token)
                .expect("a good prompt")
        });
        check::assert_answer(
            &format!("{call}: the session holds a beginning of the text"),
            &session.tokens().to_vec(),
            &[&prompt[..], &answer].concat()[..session.tokens().len()].to_vec(),
        );
        (told, reason, session.tokens().len())
    };
    let few = end("four tokens are asked for", &limits(4, &[]), 99);
    check::assert_answer("four tokens", &few, &(answer[..4].to_vec(), FinishReason::Length, 8));
    // The fourth token, 20, ends the text.
    let stop = end("the fourth token is a stop token", &limits(7, &[answer[3]]), 99);
    check::assert_answer("a stop token", &stop, &(answer[..3].to_vec(), FinishReason::Stop, 8));
    let enough = end("the reader has had enough after two", &limits(7, &[]), 2);
    check::assert_answer("enough", &enough, &(answer[..2].to_vec(), FinishReason::Interrupted, 7));
    let full = end("the context is full", &Limits { context: 8, ..limits(7, &[]) }, 99);
    check::assert_answer(
        "a full context",
        &full,
        &(answer[..3].to_vec(), FinishReason::ContextFull, 7),
    );
}

/// Sampled texts go on forever differently, but each seed gives the same one again.
#[test]
fn task_5_a_seed_gives_the_same_text() {
    let (prompt, _) = texts("llama").swap_remove(0);
    let sampling = SamplerOptions { temperature: 0.9, ..SamplerOptions::default() };
    let write = |seed| {
        let mut speculation = speculation(draft_model(similar(), 40), 4);
        let (mut session, mut text) = (session(model("llama"), 40), prompt.clone());
        let mut rng = Rng::new(seed);
        let on_token = |token| {
            text.push(token);
            ControlFlow::Continue(())
        };
        let end = speculation
            .generate(&mut session, (&prompt, 8), &limits(20, &[]), (&sampling, &mut rng), on_token)
            .expect("a good prompt");
        (text, end, speculation.counts())
    };
    check::assert_answer("the same seed again", &write(3), &write(3));
    assert!(write(3).0 != write(4).0, "two seeds gave one text of 20 tokens: {:?}", write(3).0);
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day6.rs"]
mod fresh;
