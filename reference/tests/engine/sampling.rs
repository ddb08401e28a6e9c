//! Checks that the provided sampler draws the same tokens as week 1's, with any settings.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tiny_llm_formats::request::SamplerOptions;
use tiny_llm_harness::allocations::count;
use tiny_llm_kernels::sampling::Sampler;
use tiny_llm_reference::week1::sampling::{self as week1, Rng};

/// Returns both samplers with the same settings, and a copy of the generator in week 1's sampler.
fn both(options: SamplerOptions, seed: u64) -> (Sampler, week1::Sampler, Rng) {
    let SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty } = options;
    let options1 = week1::SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty };
    let week1 = week1::Sampler { options: options1, rng: Rng::new(seed) };
    (Sampler::new(options), week1, Rng::new(seed))
}

/// Returns a random element of the slice `of`.
fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.next_u64() as usize % of.len()]
}

/// Returns random logits of one of eight kinds: as from a model, with ties, zeros of both signs,
/// with masked tokens, all equal, large, all −inf, and with some +inf.
fn logits(rng: &mut Rng, kind: usize, n: usize) -> Vec<f32> {
    let mut number = || {
        let x = (rng.uniform() + rng.uniform() + rng.uniform() - 1.5) as f32 * 8.0;
        match kind {
            0 => x,
            1 => (x / 2.0).round(),
            2 => pick(rng, &[0.0, -0.0, 1.0, -1.0]),
            3 => pick(rng, &[x, f32::NEG_INFINITY, f32::NEG_INFINITY]),
            4 => 0.25,
            5 => x * 40.0,
            6 => f32::NEG_INFINITY,
            _ => pick(rng, &[x, x, x, f32::INFINITY]),
        }
    };
    (0..n).map(|_| number()).collect()
}

fn options(rng: &mut Rng, n: usize) -> SamplerOptions {
    SamplerOptions {
        temperature: pick(rng, &[0.0, 0.3, 0.8, 1.0, 1.5]),
        top_k: pick(rng, &[0, 0, 1, 2, 5, 40, n - 1, n, n + 7]),
        top_p: pick(rng, &[1.0, 1.0, 0.95, 0.9, 0.5, 0.1, 0.0, 1.2]),
        min_p: pick(rng, &[0.0, 0.0, 0.05, 0.3, 1.0]),
        repetition_penalty: pick(rng, &[1.0, 1.0, 1.1, 1.7, 0.8]),
    }
}

#[test]
fn choose_matches_week_1() {
    let mut random = Rng::new(1);
    let mut drawn = [0usize; 8];
    for seed in 0..6000 {
        let n = pick(&mut random, &[2, 7, 8, 9, 31, 64, 100, 257]);
        let (kind, options) = (seed as usize % 8, options(&mut random, n));
        let (mut ours, mut week1, mut rng) = both(options.clone(), seed);
        let mut seen: Vec<u32> =
            (0..random.next_u64() % 6).map(|i| (i * 5) as u32 % n as u32).collect();
        for _ in 0..4 {
            let logits = logits(&mut random, kind, n);
            let expected = week1.choose(&logits, &seen);
            let found = ours.choose(&logits, &seen, rng.uniform());
            assert_eq!(found, expected, "seed {seed}, {options:?}, seen {seen:?}, {logits:?}");
            drawn[kind] += usize::from(found > 0);
            seen.push(found);
        }
    }
    assert!(drawn.iter().enumerate().all(|(kind, &n)| n > 100 || kind == 6), "{drawn:?}");
}

#[test]
fn choose_matches_week_1_with_a_large_vocabulary() {
    let mut random = Rng::new(2);
    for seed in 0..40 {
        let n = 5003;
        let options = options(&mut random, n);
        let (mut ours, mut week1, mut rng) = both(options.clone(), seed);
        let logits = logits(&mut random, seed as usize % 2, n);
        for _ in 0..5 {
            let expected = week1.choose(&logits, &[3, 4, 3]);
            assert_eq!(ours.choose(&logits, &[3, 4, 3], rng.uniform()), expected, "{options:?}");
        }
    }
}

#[test]
fn choose_matches_week_1_for_nan() {
    let mut random = Rng::new(3);
    for seed in 0..2000 {
        let mut options = options(&mut random, 9);
        options.temperature = pick(&mut random, &[0.5, 1.0]);
        let (mut ours, mut week1, mut rng) = both(options.clone(), seed);
        let mut logits = logits(&mut random, 0, 9);
        logits[random.next_u64() as usize % 9] = f32::NAN;
        let expected = catch_unwind(AssertUnwindSafe(|| week1.choose(&logits, &[])));
        let uniform = rng.uniform();
        let found = catch_unwind(AssertUnwindSafe(|| ours.choose(&logits, &[], uniform)));
        assert_eq!(found.ok(), expected.ok(), "{options:?}, {logits:?}");
    }
}

#[test]
fn choose_allocates_nothing_after_the_first_token() {
    let mut random = Rng::new(4);
    let logits = logits(&mut random, 0, 1000);
    for (top_k, top_p) in [(0, 1.0), (40, 0.95), (0, 0.9)] {
        let options =
            SamplerOptions { temperature: 0.8, top_k, top_p, min_p: 0.01, repetition_penalty: 1.1 };
        let mut sampler = Sampler::new(options);
        sampler.choose(&logits, &[1, 2, 3], 0.5);
        let counts = (0..200).map(|i| count(|| sampler.choose(&logits, &[1, 2, i], 0.9)).0);
        assert_eq!(counts.max(), Some(0), "top-k {top_k}, top-p {top_p}");
    }
}
