//! Week 1, day 7: sampling.

use std::collections::BTreeSet;

use tiny_llm::week1::sampling::{Rng, Sampler, SamplerOptions, apply_temperature, draw, min_p, repetition_penalty, top_k, top_p};
use tiny_llm_kit::{
    fixtures::{Case, Fixtures},
    tensor::tensor,
};

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day7")
}

/// The values of a 1-D tensor of a case.
fn row(case: &Case, name: &str) -> Vec<f32> {
    case.tensor(name).into_raw_vec_and_offset().0
}

fn ids(case: &Case, name: &str) -> Vec<u32> {
    case.integers(name).iter().map(|&id| id as u32).collect()
}

/// Runs `step(logits, value)` for each of the case's values called `name` and compares with `name_0`, `name_1`, ….
#[track_caller]
fn check_each(case: &Case, name: &str, step: impl Fn(&mut [f32], f64)) {
    let values = case.value(name).as_array().expect("a list of values");
    for (i, value) in values.iter().enumerate() {
        let value = value.as_f64().expect("a number");
        println!("{name} = {value}");
        let mut logits = row(case, "logits");
        step(&mut logits, value);
        case.check(&format!("{name}_{i}"), &tensor(&[logits.len()], logits));
    }
}

/// The tokens that are not ruled out.
fn support(logits: &[f32]) -> Vec<usize> {
    (0..logits.len()).filter(|&i| logits[i] > OFF).collect()
}

#[test]
fn task_1_temperature_divides_the_logits() {
    check_each(&fixtures().case("task_1_temperature/signed"), "temperature", |logits, t| apply_temperature(logits, t as f32));
}

#[test]
fn task_1_temperature_0_leaves_the_largest_logit_alone() {
    let mut logits = [1.0, -2.0, 3.5, 0.0, 3.25];
    apply_temperature(&mut logits, 0.0);
    assert_eq!(logits, [OFF, OFF, 3.5, OFF, OFF], "temperature 0 is a choice, not a division: only the largest logit stays");

    let mut tied = [1.0, 3.0, -2.0, 3.0];
    apply_temperature(&mut tied, 0.0);
    assert_eq!(tied, [OFF, 3.0, OFF, OFF], "of equal logits the first stays");

    let mut negative = [-8.0, -0.5, -3.0];
    apply_temperature(&mut negative, 0.0);
    assert_eq!(negative, [OFF, -0.5, OFF], "the largest of negative logits is the one nearest to 0");

    let mut masked = [OFF, -4.0, OFF];
    apply_temperature(&mut masked, 0.0);
    assert_eq!(masked, [OFF, -4.0, OFF], "a token that was ruled out stays so");
}

#[test]
fn task_2_top_k_keeps_the_k_largest_in_place() {
    check_each(&fixtures().case("task_2_top_k/unsorted"), "k", |logits, k| top_k(logits, k as usize));
}

#[test]
fn task_2_top_k_keeps_the_first_of_equal_logits() {
    check_each(&fixtures().case("task_2_top_k/ties"), "k", |logits, k| top_k(logits, k as usize));
}

#[test]
fn task_2_top_k_looks_at_one_row_at_a_time() {
    // Two rows of different order: what is kept of one does not depend on the row before.
    let (mut a, mut b) = ([4.0, 3.0, 2.0, 1.0], [-4.0, -3.0, -2.0, -1.0]);
    top_k(&mut a, 2);
    top_k(&mut b, 2);
    assert_eq!((a, b), ([4.0, 3.0, OFF, OFF], [OFF, OFF, -2.0, -1.0]));
}

#[test]
fn task_3_top_p_keeps_the_token_that_crosses() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_top_p/crossing");
    let mut logits = row(&case, "logits");
    top_p(&mut logits, 0.6);
    let kept = support(&logits);
    assert_eq!(kept, [1, 3], "probabilities .15 .5 .05 .3, p = .6: .5 is not enough, .5 + .3 is; so the tokens with .5 and .3 stay");
    check_each(&case, "p", |logits, p| top_p(logits, p as f32));
}

#[test]
fn task_3_top_p_depends_on_probabilities_alone() {
    check_each(&fixtures().case("task_3_top_p/shifted"), "p", |logits, p| top_p(logits, p as f32));
}

#[test]
fn task_3_top_p_counts_what_is_left_as_a_whole() {
    check_each(&fixtures().case("task_3_top_p/masked"), "p", |logits, p| top_p(logits, p as f32));
}

#[test]
fn task_3_top_p_of_a_wide_row() {
    check_each(&fixtures().case("task_3_top_p/wide"), "p", |logits, p| top_p(logits, p as f32));
}

#[test]
fn task_3_top_p_at_its_limits() {
    for p in [0.0, 1e-6] {
        let mut logits = [0.5, -1.0, 2.0, 1.5];
        top_p(&mut logits, p);
        assert_eq!(logits, [OFF, OFF, 2.0, OFF], "p = {p}: the most probable token always stays");
    }
    // e^−200 is 0 in f32, so a running sum reaches 1 before the last token.
    let far = [0.0, -200.0, 3.0, -150.0];
    for p in [1.0, 1.5] {
        let mut logits = far;
        top_p(&mut logits, p);
        assert_eq!(logits, far, "p = {p} keeps all, however improbable");
    }
    // Four times ¼, exact in f32.
    let mut equal = [-1.0; 4];
    top_p(&mut equal, 0.5);
    assert_eq!(equal, [-1.0, -1.0, OFF, OFF], "¼ + ¼ is at least ½: two stay, and of equal ones the first");
}

#[test]
fn task_4_min_p_is_relative_to_the_most_probable_token() {
    check_each(&fixtures().case("task_4_min_p/four"), "p", |logits, p| min_p(logits, p as f32));
}

#[test]
fn task_4_min_p_depends_on_probabilities_alone() {
    let fixtures = fixtures();
    for name in ["shifted", "negative"] {
        check_each(&fixtures.case(&format!("task_4_min_p/{name}")), "p", |logits, p| min_p(logits, p as f32));
    }
}

#[test]
fn task_4_min_p_of_a_wide_row() {
    check_each(&fixtures().case("task_4_min_p/wide"), "p", |logits, p| min_p(logits, p as f32));
}

#[test]
fn task_4_min_p_at_its_limits() {
    let mut tied = [2.0, 1.0, 2.0];
    min_p(&mut tied, 1.0);
    assert_eq!(tied, [2.0, OFF, 2.0], "p = 1 keeps all tokens that are as probable as the most probable one");
    let mut masked = [OFF, -3.0, OFF, -3.5];
    min_p(&mut masked, 0.0);
    assert_eq!(masked, [OFF, -3.0, OFF, -3.5], "p = 0 changes nothing, and a token that was ruled out stays so");
}

#[test]
fn task_5_penalty_makes_seen_tokens_less_likely() {
    let fixtures = fixtures();
    let case = fixtures.case("task_5_penalty/signed");
    let seen = ids(&case, "seen");
    check_each(&case, "penalty", |logits, penalty| repetition_penalty(logits, &seen, penalty as f32));
}

#[test]
fn task_5_penalty_by_hand() {
    let mut logits = [3.0, -3.0, 3.0, -3.0];
    repetition_penalty(&mut logits, &[1, 0, 1, 1], 2.0);
    assert_eq!(logits, [1.5, -6.0, 3.0, -3.0], "seen 3 → 3/2; seen −3 → −3·2, once although it was seen three times; unseen stay");

    let mut logits = [3.0, -3.0];
    repetition_penalty(&mut logits, &[], 2.0);
    assert_eq!(logits, [3.0, -3.0], "nothing was seen, nothing changes");
}

#[test]
fn task_6_generator_is_splitmix64() {
    let fixtures = fixtures();
    let case = fixtures.case("task_6_splitmix64");
    let numbers = |name: &str| case.value(name).as_array().expect("a list").clone();
    for (seed, expected) in numbers("seeds").iter().zip(numbers("numbers")) {
        let seed = seed.as_u64().expect("a seed");
        let mut rng = Rng::new(seed);
        for (i, expected) in expected.as_array().expect("a list").iter().enumerate() {
            let (found, expected) = (rng.next_u64(), expected.as_u64().expect("64 bits"));
            assert_eq!(found, expected, "number {i} of seed {seed}: found {found:#018x}, expected {expected:#018x}");
        }
    }
}

#[test]
fn task_6_uniform_is_the_upper_53_bits() {
    let (mut bits, mut rng) = (Rng::new(42), Rng::new(42));
    let (mut smallest, mut largest) = (1.0f64, 0.0f64);
    for i in 0..100_000 {
        let (next, found) = (bits.next_u64(), rng.uniform());
        // Both factors are exact, so is the product.
        let expected = (next >> 11) as f64 * 2f64.powi(-53);
        assert!(found == expected, "number {i}: {next:#018x} becomes {expected:?}, found {found:?}");
        assert!((0.0..1.0).contains(&found), "number {i} is {found:?}, outside [0, 1)");
        (smallest, largest) = (smallest.min(found), largest.max(found));
    }
    assert!(smallest < 1e-4 && largest > 1.0 - 1e-4, "100,000 numbers lie between {smallest} and {largest} only");
}

#[test]
fn task_6_draw_takes_the_token_whose_sum_exceeds_the_number() {
    let fixtures = fixtures();
    for name in ["signed", "shifted"] {
        let case = fixtures.case(&format!("task_6_draw/{name}"));
        let logits = row(&case, "logits");
        for (uniform, expected) in row(&case, "uniform").into_iter().zip(ids(&case, "token")) {
            let found = draw(&logits, f64::from(uniform));
            assert_eq!(found, expected, "{name}: draw({logits:?}, {uniform})");
        }
    }
}

#[test]
fn task_6_draw_on_the_borders() {
    // Four times ¼, exact in f32: the running sums are .25, .5, .75, 1.
    let equal = [-2.0; 4];
    let below = 2f64.powi(-53);
    for (uniform, expected) in
        [(0.0, 0), (0.25 - below, 0), (0.25, 1), (0.5 - below, 1), (0.5, 2), (0.75 - below, 2), (0.75, 3), (1.0 - below, 3)]
    {
        assert_eq!(draw(&equal, uniform), expected, "of four equal tokens, at {uniform:?}: the sum must exceed the number");
    }
}

#[test]
fn task_6_draw_never_gives_a_token_that_is_ruled_out() {
    assert_eq!(draw(&[OFF, OFF, 1.0, OFF], 0.0), 2, "at 0 the first token that can be drawn");
    let largest = 1.0 - 2f64.powi(-53);
    for n in 1..100 {
        // n equal tokens, each 1/n rounded to f32: for many n the running sum ends below 1.
        let logits: Vec<f32> = (0..n + 2).map(|i| if i < n { 0.0 } else { OFF }).collect();
        let token = draw(&logits, largest);
        assert_eq!(
            token,
            n - 1,
            "{n} equal tokens and two that are ruled out, at {largest:?}: the last possible one covers what rounding leaves"
        );
    }
}

/// A sampler with the options of a case.
fn sampler(case: &Case, seed: u64) -> Sampler {
    let options = SamplerOptions {
        temperature: case.scalar("temperature") as f32,
        top_k: case.count("top_k"),
        top_p: case.scalar("top_p") as f32,
        min_p: case.scalar("min_p") as f32,
        repetition_penalty: case.scalar("penalty") as f32,
    };
    Sampler { options, rng: Rng::new(seed) }
}

#[test]
fn task_6_sampler_applies_the_steps_in_order() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_6_order/") {
        let case = fixtures.case(&name);
        let (logits, seen) = (row(&case, "logits"), ids(&case, "seen"));
        let mut sampler = sampler(&case, 7);
        // Every token of the support has a probability above .05: 1,000 draws miss one with probability .95^1000 < 10^−22.
        let found: BTreeSet<u32> = (0..1_000).map(|_| sampler.choose(&logits, &seen)).collect();
        let found: Vec<u32> = found.into_iter().collect();
        assert_eq!(
            found,
            ids(&case, "support"),
            "{name}: tokens drawn with {:?} from {logits:?} after {seen:?}; the order is penalty, temperature, top-k, top-p, min-p",
            sampler.options
        );
    }
}

/// Pearson's χ² of `counts` against `probabilities`; infinite if a token came up that cannot.
fn chi_square(counts: &[usize], probabilities: &[f32]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    let term = |(&count, &p): (&usize, &f32)| match (count, n * f64::from(p)) {
        (0, 0.0) => 0.0,
        (count, expected) => (count as f64 - expected).powi(2) / expected,
    };
    counts.iter().zip(probabilities).map(term).sum()
}

/// A χ² above `critical` would be met in one of a million correct samplers (`false_alarm` of the case); the seed is fixed, so
/// this one either is or is not among them, always.
#[test]
fn task_6_sampler_follows_the_distribution() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_6_distribution/") {
        let case = fixtures.case(&name);
        let (logits, seen, draws) = (row(&case, "logits"), ids(&case, "seen"), case.count("draws"));
        let mut sampler = sampler(&case, case.count("sampler_seed") as u64);
        let mut counts = vec![0; logits.len()];
        for _ in 0..draws {
            counts[sampler.choose(&logits, &seen) as usize] += 1;
        }
        let (probabilities, critical) = (row(&case, "probabilities"), case.scalar("critical"));
        let found = chi_square(&counts, &probabilities);
        let expected: Vec<f32> = probabilities.iter().map(|p| p * draws as f32).collect();
        assert!(found <= critical, "{name}: χ² is {found:.1}, at most {critical} expected\n  drawn    {counts:?}\n  expected {expected:?}");

        // The same counts are far from what a sampler with one mistake would give: the test can tell.
        let neighbours = case.tensor("neighbours");
        for (neighbour, of) in neighbours.outer_iter().zip(case.value("names").as_array().expect("names")) {
            let other = chi_square(&counts, &neighbour.iter().copied().collect::<Vec<_>>());
            assert!(other > 10.0 * critical, "{name}: χ² against {of} is only {other:.1}");
        }
        println!("{name}: χ² {found:.1}, critical {critical}");
    }
}

#[test]
fn task_6_sampler_uses_one_number_per_token() {
    let logits = [0.5, 0.0, -0.5, 1.0];
    let mut sampler = Sampler { options: SamplerOptions::default(), rng: Rng::new(3) };
    let mut rng = Rng::new(3);
    for i in 0..50 {
        assert_eq!(sampler.choose(&logits, &[]), draw(&logits, rng.uniform()), "token {i}: the options are off, so the sampler only draws");
    }
    sampler.options.temperature = 0.0;
    assert_eq!(sampler.choose(&logits, &[]), 3, "at temperature 0 the largest logit is chosen");
    rng.uniform();
    assert_eq!(
        sampler.rng.next_u64(),
        rng.next_u64(),
        "after 51 tokens, the last one at temperature 0, the generator stands at its 52nd number"
    );
}

#[test]
fn task_6_sampler_repeats_itself_with_the_same_seed_only() {
    let logits: Vec<f32> = (0..20).map(|i| (i % 7) as f32 / 4.0).collect();
    let text = |seed: u64| -> Vec<u32> {
        let mut sampler = Sampler { options: SamplerOptions { temperature: 1.5, ..SamplerOptions::default() }, rng: Rng::new(seed) };
        let mut tokens = vec![0];
        for _ in 0..40 {
            let next = sampler.choose(&logits, &tokens);
            tokens.push(next);
        }
        tokens
    };
    assert_eq!(text(1), text(1), "the same seed gives the same tokens");
    for seed in 2..10 {
        assert_ne!(text(1), text(seed), "seed {seed} gives the tokens of seed 1");
    }
}
