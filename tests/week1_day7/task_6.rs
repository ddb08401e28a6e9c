//! Week 1, day 7, task 6: a seeded generator and the draw.

#[path = "task_6_distribution.rs"]
mod distribution;

use std::collections::BTreeSet;

use tiny_llm::week1::{
    attention::softmax,
    sampling::{
        Rng, Sampler, SamplerOptions, apply_temperature, draw, min_p, repetition_penalty, top_k,
        top_p,
    },
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{Lines, assert_answer, compare},
    fixtures::Case,
};

use super::{OFF, check_hand, explained, fixtures};

/// Numbers n of equal probabilities whose sum, n · (1/n rounded to f32), is less than 1 − 2⁻⁵³.
const SHORT: [usize; 4] = [25, 31, 41, 58];

#[test]
fn task_6_generator_is_splitmix64() {
    let case = fixtures().case("task_6_splitmix64");
    let (seeds, numbers): (Vec<u64>, Vec<Vec<u64>>) = (case.read("seeds"), case.read("numbers"));
    let hexadecimal = |number: u64| format!("{number:#018x}");
    for (seed, expected) in seeds.into_iter().zip(numbers) {
        let expected: Vec<_> = expected.into_iter().map(hexadecimal).collect();
        let mut rng = Rng::new(seed);
        let why = "next_u64 adds and multiplies modulo 2⁶⁴ and must not panic: use wrapping_add \
                   and wrapping_mul";
        let found = explained(why, || {
            expected.iter().map(|_| hexadecimal(rng.next_u64())).collect::<Vec<_>>()
        });
        assert_answer(&format!("next_u64: the first numbers of seed {seed}"), &found, &expected);
    }
}

#[test]
fn task_6_uniform_uses_the_upper_53_bits() {
    // Both factors are exact, so is the product.
    let upper = |bits: u64| (bits >> 11) as f64 * 2f64.powi(-53);
    let (mut bits, mut rng) = (Rng::new(42), Rng::new(42));
    let found: Vec<f64> = (0..8).map(|_| rng.uniform()).collect();
    let expected: Vec<f64> = (0..8).map(|_| upper(bits.next_u64())).collect();
    assert_answer("uniform: the first numbers of seed 42", &found, &expected);

    let (mut smallest, mut largest) = (1.0f64, 0.0f64);
    for i in 8..100_000 {
        let (next, found) = (bits.next_u64(), rng.uniform());
        let expected = upper(next);
        assert!(
            found == expected,
            "uniform, seed 42, number {i} ({next:#018x}): found {found:?}, expected {expected:?}"
        );
        (smallest, largest) = (smallest.min(found), largest.max(found));
    }
    assert!(
        smallest < 1e-4 && largest > 1.0 - 1e-4,
        "100,000 uniform numbers of seed 42 are between {smallest} and {largest}, but some must be \
         near 0 and some near 1: next_u64 does not fill the upper bits"
    );
}

/// The inputs are ordered: later ones check what earlier ones do not.
#[test]
fn task_6_draw_returns_first_token_with_sum_above_uniform() {
    for name in ["signed", "shifted"] {
        let case = fixtures().case(&format!("task_6_draw/{name}"));
        let logits = case.numbers("logits");
        let found: Vec<u32> = case
            .numbers("uniform")
            .into_iter()
            .map(|uniform| draw(&logits, f64::from(uniform)))
            .collect();
        assert_answer(
            &format!("{name}: draw with the numbers 1/128, 3/128, … 127/128 from {logits:?}"),
            &found,
            &case.ids("token"),
        );
    }

    // Four times ¼, exact in f32: the running sums are .25, .5, .75, 1.
    let below = 2f64.powi(-53);
    let numbers = [0.0, 0.25 - below, 0.25, 0.5 - below, 0.5, 0.75 - below, 0.75, 1.0 - below];
    let found = numbers.map(|uniform| draw(&[-2.0; 4], uniform));
    let what = "draw from four equal tokens, with the numbers 0, just below ¼, ¼, just below ½, ½, \
                just below ¾, ¾, just below 1";
    assert_answer(what, &found, &[0, 0, 1, 1, 2, 2, 3, 3]);

    // n equal tokens, each 1/n rounded to f32. For these n the final sum is below the largest
    // number that `uniform` returns.
    let equal = |n: usize| -> Vec<f32> {
        (0..n + 5).map(|i| if (3..n + 3).contains(&i) { 0.0 } else { OFF }).collect()
    };
    let found = SHORT.map(|n| draw(&equal(n), 1.0 - below));
    let what = format!(
        "draw with the number 1 − 2⁻⁵³ from n equal tokens, between three excluded tokens and two \
         more, for n = {SHORT:?}"
    );
    assert_answer(&what, &found, &SHORT.map(|n| n as u32 + 2));

    // Each probability is 1/100,000, except for a relative rounding error of softmax below 1e-6. In
    // f64 the sums add no error, so they are right to 1e-6, a tenth of an interval, and a number in
    // the middle of an interval is far from its ends. In f32 the sum is rounded by up to 2⁻²⁵ at
    // each of the last 50,000 tokens, always in the same direction.
    let n = 100_000;
    let tokens = [25_000, 50_000, 75_000, 99_999];
    let found = tokens.map(|token| draw(&vec![0.0; n], (f64::from(token) + 0.5) / n as f64));
    let what = format!(
        "draw from {n} equal tokens, with the numbers in the middle of the intervals of tokens \
         {tokens:?}"
    );
    assert_answer(&what, &found, &tokens);
}

#[test]
fn task_6_draw_never_returns_an_excluded_token() {
    check_hand(
        "draw with the number 0, where only token 2 is not excluded: a sum of 0 is not above 0",
        draw(&[OFF, OFF, 1.0, OFF], 0.0),
        2,
    );
    let logits = [OFF, 0.5, OFF, -1.0, 2.0, OFF, 0.0, OFF, OFF];
    for i in 0..1_000 {
        let uniform = f64::from(i) / 1e3;
        let found = draw(&logits, uniform);
        let possible = logits.get(found as usize).is_some_and(|&logit| logit > OFF);
        assert!(possible, "draw({logits:?}, {uniform}) returns token {found}, which is excluded");
    }
}

/// A seed whose first random number is 0.91. A sampler that draws with this number again and again
/// doesn't draw the most probable token by chance.
const SEED: u64 = 23;

/// Returns a sampler with the options of a case.
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

/// Returns the logits after the learner's own steps, which this function calls in order.
fn shaped(logits: &[f32], seen: &[u32], options: &SamplerOptions) -> Vec<f32> {
    let mut logits = logits.to_vec();
    repetition_penalty(&mut logits, seen, options.repetition_penalty);
    apply_temperature(&mut logits, options.temperature);
    top_k(&mut logits, options.top_k);
    top_p(&mut logits, options.top_p);
    min_p(&mut logits, options.min_p);
    logits
}

/// Returns the different tokens in 1,000 draws, ascending. In these cases each possible token has a
/// probability above 0.05, so one is missed with probability 0.95^1000 < 10^−22.
fn drawn(mut next: impl FnMut() -> u32) -> Vec<u32> {
    (0..1_000).map(|_| next()).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Explains why all `n` draws returned the token `one`, although several are possible. `moved` says
/// whether the sampler's generator advanced by `n` numbers.
fn always_one(n: usize, one: u32, logits: &[f32], moved: bool) -> String {
    let best = logits.iter().all(|&logit| logit <= logits[one as usize]);
    match (moved, best) {
        (false, _) => format!(
            "all {n} draws give token {one}, and the sampler's generator has not advanced by {n} \
             numbers: each `choose` must draw with the next number of the sampler's generator"
        ),
        (true, true) => format!(
            "all {n} draws give token {one}, the most probable one: either `choose` takes it \
             without a draw, or a step excludes all other tokens although it is off: check which \
             option each step gets"
        ),
        (true, false) => {
            format!("all {n} draws give token {one}, which is not the token with the largest logit")
        }
    }
}

/// Returns the tokens that a case's sampler draws, and whether its generator advanced by one number
/// for each draw. First checks everything that `choose` uses, so that only `choose` can be wrong.
fn drawn_by_sampler(case: &Case, name: &str, tasks: &str) -> (Vec<u32>, bool) {
    let (logits, seen, expected) = (case.numbers("logits"), case.ids("seen"), case.ids("support"));
    let mut sampler = sampler(case, SEED);
    let found = drawn(|| sampler.choose(&logits, &seen));
    let own = shaped(&logits, &seen, &sampler.options);
    let left: Vec<u32> = (0..own.len()).filter(|&i| own[i] > OFF).map(|i| i as u32).collect();
    let options = &sampler.options;
    assert!(
        left == expected,
        "{name}: this test called your steps one by one, and tokens {left:?} are left, expected \
         {expected:?}: make the tests of {tasks} green first ({options:?}, logits {logits:?}, seen \
         {seen:?})"
    );
    let mut rng = Rng::new(SEED);
    let direct = drawn(|| draw(&own, rng.uniform()));
    assert!(
        direct == expected,
        "{name}: tokens {expected:?} have probabilities above 5 % each, but 1,000 calls of `draw` \
         with numbers of `uniform` give only {direct:?}: make the tests of `Rng`, `uniform` and \
         `draw` green first"
    );
    (found, sampler.rng.next_u64() == rng.next_u64())
}

#[test]
fn task_6_sampler_applies_each_step() {
    for (step, name, tasks) in [
        ("top_k", "top-k", "task 2"),
        ("top_p", "top-p", "task 3"),
        ("min_p", "min-p", "task 4"),
        ("temperature", "the temperature", "task 1"),
        ("penalty", "the repetition penalty", "tasks 1 and 5"),
    ] {
        let case = fixtures().case(&format!("task_6_step/{step}"));
        let (logits, seen, expected) =
            (case.numbers("logits"), case.ids("seen"), case.ids("support"));
        let mut options = sampler(&case, SEED).options;
        let (found, moved) = drawn_by_sampler(&case, step, tasks);
        let setting = format!("{options:?}");
        let off = SamplerOptions::default();
        match step {
            "top_k" => options.top_k = off.top_k,
            "top_p" => options.top_p = off.top_p,
            "min_p" => options.min_p = off.min_p,
            "temperature" => options.temperature = off.temperature,
            _ => options.repetition_penalty = off.repetition_penalty,
        }
        let mut rng = Rng::new(SEED);
        let unshaped = shaped(&logits, &seen, &options);
        let because = match (found == drawn(|| draw(&unshaped, rng.uniform())), &found[..]) {
            (true, _) if step == "penalty" => {
                "; this is the result without the penalty: either `choose` leaves it out, passes \
                 only part of `seen`, draws from logits without it, or applies it after \
                 temperature 0 has chosen"
                    .to_owned()
            }
            (true, _) => format!(
                "; this is the result without {name}: either `choose` leaves it out or draws from \
                 logits without it"
            ),
            (false, [one]) if expected.len() > 1 => {
                format!("; {}", always_one(1_000, *one, &logits, moved))
            }
            _ => String::new(),
        };
        assert!(
            found == expected,
            "only {name} is on: `choose` draws tokens {found:?}, expected {expected:?}{because}\n  \
             options  {setting}\n  logits   {logits:?}\n  seen     {seen:?}"
        );
    }
}

#[test]
fn task_6_sampler_applies_the_steps_in_order() {
    let fixtures = fixtures();
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for name in fixtures.cases("task_6_order/") {
        let case = fixtures.case(&name);
        let (drawn, _) = drawn_by_sampler(&case, &name, "tasks 1 to 5");
        let support = case.ids("support");
        let SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty } =
            sampler(&case, SEED).options;
        let setting = format!(
            "penalty {repetition_penalty}, temperature {temperature}, top-k {top_k}, top-p \
             {top_p}, min-p {min_p}"
        );
        let differs = if drawn == support { "" } else { "  <- differs" };
        found.push(format!("{setting}: {drawn:?}{differs}"));
        expected.push(format!("{setting}: {support:?}"));
    }
    let what = "tokens that `choose` draws with several steps on; the order is penalty, \
                temperature, top-k, top-p, min-p";
    assert_answer(what, &Lines(found), &Lines(expected));
}
