//! Week 1, day 7, on fresh inputs.

use tiny_llm::week1::sampling::{
    Rng, Sampler, SamplerOptions, apply_temperature, draw, min_p, repetition_penalty, top_k, top_p,
};
use tiny_llm_harness::{check::Tolerance, fresh::Fresh};

/// Answers with what `shape` returns for distinct logits, and for logits with equal values.
fn shaped(fresh: &Fresh, what: &str, mut shape: impl FnMut(&Fresh, &mut [f32])) {
    for round in 0..6 {
        let mut logits = fresh.f32s(24);
        if round % 2 == 1 {
            logits.iter_mut().for_each(|x| *x = (2.0 * *x).round());
        }
        shape(fresh, &mut logits);
        fresh.answers(what, &logits, Tolerance::Relative(1e-5));
    }
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day7 task 1");
    shaped(&fresh, "temperature", |fresh, logits| {
        apply_temperature(logits, 0.1 + 3.0 * fresh.uniform() as f32);
    });
    shaped(&fresh, "temperature 0", |_, logits| apply_temperature(logits, 0.0));
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day7 task 2");
    shaped(&fresh, "top-k", |fresh, logits| top_k(logits, fresh.below(26)));
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day7 task 3");
    shaped(&fresh, "top-p", |fresh, logits| top_p(logits, fresh.uniform() as f32));
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week1-day7 task 4");
    shaped(&fresh, "min-p", |fresh, logits| min_p(logits, fresh.uniform() as f32));
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week1-day7 task 5");
    shaped(&fresh, "penalty", |fresh, logits| {
        let seen = fresh.tokens(9, 24);
        repetition_penalty(logits, &[&seen[..], &seen[..3]].concat(), 0.5 + fresh.uniform() as f32);
    });
}

#[test]
fn task_6() {
    let fresh = Fresh::new("week1-day7 task 6");
    let mut rng = Rng::new(fresh.u64());
    let numbers: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
    fresh.says("next_u64", &numbers);
    let uniform: Vec<f64> = (0..5).map(|_| rng.uniform()).collect();
    fresh.says("uniform", &uniform);
    let drawn: Vec<u32> = (0..20)
        .map(|_| {
            let mut logits = fresh.f32s(12);
            logits[fresh.below(12)] = f32::NEG_INFINITY;
            draw(&logits, fresh.uniform())
        })
        .collect();
    fresh.says("drawn", &drawn);
    let options = SamplerOptions {
        temperature: 0.5 + fresh.uniform() as f32,
        top_k: fresh.from_to(5, 12),
        top_p: 0.8,
        min_p: 0.05,
        repetition_penalty: 1.3,
    };
    let mut sampler = Sampler { options, rng: Rng::new(fresh.u64()) };
    let chosen: Vec<u32> =
        (0..20).map(|_| sampler.choose(&fresh.f32s(16), &fresh.tokens(4, 16))).collect();
    fresh.says("chosen", &chosen);
}
