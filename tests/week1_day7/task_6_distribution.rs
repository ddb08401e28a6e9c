//! Week 1, day 7, task 6: the distribution that the sampler draws from, and its use of random
//! numbers.

use super::*;

/// Returns a token's term of Pearson's χ². It is infinite for an impossible token that was drawn.
fn deviation(count: usize, expected: f64) -> f64 {
    if count == 0 && expected == 0.0 { 0.0 } else { (count as f64 - expected).powi(2) / expected }
}

/// Returns Pearson's χ² of `counts` against `probabilities`.
fn chi_square(counts: &[usize], probabilities: &[f32]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    counts.iter().zip(probabilities).map(|(&count, &p)| deviation(count, n * f64::from(p))).sum()
}

/// One in a million correct samplers would exceed `critical` (the case's `false_alarm`). The seed
/// is fixed, so the result is always the same.
#[test]
fn task_6_sampler_follows_the_distribution() {
    let fixtures = fixtures();
    for name in fixtures.cases("task_6_distribution/") {
        let case = fixtures.case(&name);
        let (logits, seen, draws) = (case.numbers("logits"), case.ids("seen"), case.count("draws"));
        let (probabilities, critical) = (case.tensor("probabilities"), case.scalar("critical"));
        let mut sampler = sampler(&case, case.count("sampler_seed") as u64);
        let mut counts = vec![0; logits.len()];
        for _ in 0..draws {
            counts[sampler.choose(&logits, &seen) as usize] += 1;
        }
        let own = softmax(&tensor(&[logits.len()], shaped(&logits, &seen, &sampler.options)));
        let what = format!(
            "{name}: probabilities after your steps, which this test called one by one (make the \
             tests of tasks 1 to 5 green first)"
        );
        compare(&what, &own, &probabilities, case.tolerance("probabilities"))
            .unwrap_or_else(|message| panic!("{message}"));
        let probabilities = case.numbers("probabilities");
        let found = chi_square(&counts, &probabilities);
        let neighbours = case.tensor("neighbours");
        let names: Vec<String> = case.read("names");
        let others: Vec<(String, f64)> = names
            .into_iter()
            .zip(neighbours.outer_iter())
            .map(|(of, p)| (of, chi_square(&counts, &p.iter().copied().collect::<Vec<_>>())))
            .collect();
        if found > critical {
            let expected: Vec<f64> =
                probabilities.iter().map(|&p| f64::from(p) * draws as f64).collect();
            let worst = (0..counts.len()).max_by(|&a, &b| {
                deviation(counts[a], expected[a]).total_cmp(&deviation(counts[b], expected[b]))
            });
            let worst = worst.expect("a token");
            let sigma = (expected[worst] * (1.0 - f64::from(probabilities[worst]))).sqrt();
            let like = others
                .iter()
                .filter(|(_, other)| *other <= critical)
                .map(|(of, _)| format!("\n  these are the frequencies of a sampler {of}"));
            panic!(
                "{name}: `choose` returned token {worst} in {} of {draws} calls, expected {:.0} ± \
                 {sigma:.0}; over all tokens χ² is {found:.1}, which must not exceed {critical}\n  \
                 drawn    {counts:?}\n  expected {expected:.0?}{}",
                counts[worst],
                expected[worst],
                like.collect::<String>()
            );
        }
        // The same counts are far from those of a sampler with one mistake, so the test can tell
        // them apart.
        for (of, other) in others {
            assert!(
                other > 10.0 * critical,
                "{name}: χ² against a sampler {of} is only {other:.1}"
            );
        }
        println!("{name}: χ² {found:.1}, critical {critical}");
    }
}

/// With very many equally probable tokens, every digit of the number matters.
#[test]
fn task_6_sampler_does_not_round_uniform_to_f32() {
    let vocabulary = 1 << 18;
    let logits = vec![0.5; vocabulary];
    let token = |number: f64| (number * vocabulary as f64) as u32;
    let mut rng = Rng::new(1);
    for _ in 0..3 {
        // A number near the boundary of two tokens: rounded to f32, it would select the other
        // token.
        let mut before = rng.clone();
        let mut number = rng.uniform();
        let mut drawn = 1;
        while token(number) == token(f64::from(number as f32)) {
            drawn += 1;
            assert!(
                drawn < 10_000,
                "for each of 10,000 numbers of `uniform`, rounding to f32 selects the same of 2^18 \
                 tokens: use the upper 53 bits, which an f32 cannot hold"
            );
            before = rng.clone();
            number = rng.uniform();
        }
        let mut sampler = Sampler { options: SamplerOptions::default(), rng: before };
        let found = sampler.choose(&logits, &[]);
        assert!(
            found == token(number),
            "choose among 2^18 equally probable tokens with the number {number:?}: found {found}, \
             expected {}, because number · 2^18 is {:?}; don't round the number to f32",
            token(number),
            number * vocabulary as f64
        );
    }
}

#[test]
fn task_6_sampler_uses_one_random_number_per_token() {
    let logits = [0.5, 0.0, -0.5, 1.0];
    // Its first number is 0.39, which gives token 1: reusing it differs from always taking the
    // first or the most probable token.
    let mut sampler = Sampler { options: SamplerOptions::default(), rng: Rng::new(7) };
    let mut rng = Rng::new(7);
    let found: Vec<u32> = (0..40).map(|_| sampler.choose(&logits, &[])).collect();
    let expected: Vec<u32> = (0..40).map(|_| draw(&logits, rng.uniform())).collect();
    assert_answer(
        "40 calls of `choose` with all steps off, compared with your `draw` with the numbers of \
         seed 7",
        &found,
        &expected,
    );

    let off = SamplerOptions::default;
    for (name, options) in [
        ("top-k 1", SamplerOptions { top_k: 1, ..off() }),
        ("top-p 0", SamplerOptions { top_p: 0.0, ..off() }),
        ("min-p 1", SamplerOptions { min_p: 1.0, ..off() }),
    ] {
        let (mut sampler, mut rng) = (Sampler { options, rng: Rng::new(7) }, Rng::new(7));
        let what = format!("choose with {name}, logits 0.5, 0, −0.5, 1: only token 3 is left");
        check_hand(&what, sampler.choose(&logits, &[]), 3);
        rng.uniform();
        let moved = sampler.rng.next_u64() == rng.next_u64();
        assert!(
            moved,
            "{what}, but the generator must still advance by one number: each token uses one"
        );
    }

    sampler.options.temperature = 0.0;
    check_hand(
        "choose at temperature 0, logits 0.5, 0, −0.5, 1: choose the largest logit",
        sampler.choose(&logits, &[]),
        3,
    );
    rng.uniform();
    let (found, expected) = (sampler.rng.next_u64(), rng.next_u64());
    assert!(
        found == expected,
        "after 41 tokens, the last one at temperature 0, the generator's next number is \
         {found:#018x}, expected {expected:#018x}: a token uses one number at temperature 0 too"
    );
}

#[test]
fn task_6_sampler_repeats_only_with_the_same_seed() {
    let logits: Vec<f32> = (0..20).map(|i| (i % 7) as f32 / 4.0).collect();
    // Returns the tokens, and whether the generator advanced by one number for each.
    let text = |seed: u64| -> (Vec<u32>, bool) {
        let mut sampler = Sampler {
            options: SamplerOptions { temperature: 1.5, ..SamplerOptions::default() },
            rng: Rng::new(seed),
        };
        let mut tokens = vec![0];
        for _ in 0..40 {
            let next = sampler.choose(&logits, &tokens);
            tokens.push(next);
        }
        let mut rng = Rng::new(seed);
        for _ in 0..40 {
            rng.next_u64();
        }
        (tokens.split_off(1), sampler.rng.next_u64() == rng.next_u64())
    };
    let (first, moved) = text(1);
    check_hand(
        "40 tokens with seed 1, twice: the same seed must give the same tokens",
        text(1).0,
        first.clone(),
    );
    let why = if first.iter().all(|&token| token == first[0]) {
        always_one(40, first[0], &logits, moved)
    } else {
        "take the numbers from the sampler's own generator".to_owned()
    };
    for seed in 2..10 {
        assert!(
            text(seed).0 != first,
            "temperature 1.5, all other steps off: seed {seed} must give different tokens from \
             seed 1; {why}\n  found    {first:?} with both"
        );
    }
}

#[test]
fn task_6_draw_and_sampler_with_large_inputs() {
    let found = draw(&[-16.0, 0.0], 0.0);
    assert!(
        found == 0,
        "draw with the number 0 from the logits −16 and 0: found token {found}, expected 0, whose \
         probability of 1.1e-7 is above 0"
    );
    let mut logits = vec![OFF; 70_000];
    logits[69_999] = 0.0;
    let found = draw(&logits, 0.5);
    assert!(
        found == 69_999,
        "draw from 70,000 logits where only token 69999 is not excluded: found {found}, expected \
         69999"
    );
    let options =
        SamplerOptions { temperature: 0.0, repetition_penalty: 2.0, ..SamplerOptions::default() };
    let seen: Vec<u32> = std::iter::once(0).chain([2; 1000]).collect();
    let found = Sampler { options, rng: Rng::new(1) }.choose(&[2.0, 1.5, 0.5], &seen);
    assert!(
        found == 1,
        "choose with penalty 2 at temperature 0, logits 2, 1.5, 0.5, where token 0 was seen a \
         thousand tokens ago: found {found}, expected 1: penalise every token that was seen"
    );
}
