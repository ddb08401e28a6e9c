//! Week 3, day 6, on fresh inputs.

use tiny_llm::{
    week1::sampling::{Rng, SamplerOptions},
    week3::{
        accept::{Draft, distribution, residual, verify},
        draft_length::{Costs, DraftLength, best_length, expected_tokens},
        drafter::Drafter,
        lookup::draft_from_text,
    },
};
use tiny_llm_harness::fresh::Fresh;

use super::{Scripted, VOCABULARY, draft_model, greedy, model, session, speculation};

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day6 task 1");
    for _ in 0..40 {
        let text = fresh.tokens(fresh.from_to(1, 40), fresh.from_to(2, 5));
        let found = draft_from_text(&text, fresh.from_to(1, 5), fresh.from_to(1, 6));
        fresh.says("draft", &found);
    }
}

/// Returns `n` probabilities that sum to 1.
fn probabilities(fresh: &Fresh, n: usize) -> Vec<f32> {
    distribution(&SamplerOptions::default(), &fresh.f32s(n), &[])
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day6 task 2");
    for _ in 0..12 {
        let n = fresh.from_to(3, 12);
        let options = SamplerOptions {
            temperature: 0.5 + fresh.uniform() as f32,
            top_k: fresh.below(n),
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0 + fresh.uniform() as f32,
        };
        let found = distribution(&options, &fresh.f32s(n), &fresh.tokens(4, n));
        fresh.answers("distribution", &found, 1e-4);
        let (p, q) = (probabilities(&fresh, n), probabilities(&fresh, n));
        let found: Vec<f32> = residual(&p, &q).into_iter().map(|x| x as f32).collect();
        fresh.answers("residual", &found, 1e-4);
        let draft = || Draft { token: fresh.below(n) as u32, q: probabilities(&fresh, n) };
        let drafts = [draft(), draft(), draft()];
        let target: Vec<Vec<f32>> = (0..4).map(|_| probabilities(&fresh, n)).collect();
        let verdict = verify(&drafts, |i| target[i].clone(), &mut Rng::new(fresh.u64()));
        fresh.says("verdict", &verdict);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day6 task 3");
    for _ in 0..20 {
        let costs = Costs { row: fresh.uniform(), draft: 0.3 * fresh.uniform() };
        let (rate, max) = (fresh.uniform(), fresh.from_to(1, 9));
        fresh.answers("tokens", &[expected_tokens(rate, max) as f32], 1e-4);
        fresh.says("best", &best_length(rate, costs, max));
        let mut length = DraftLength::new(max, costs);
        let mut all = Vec::new();
        for _ in 0..60 {
            let k = length.choose();
            all.push(k);
            length.observe(k, if fresh.below(3) == 0 { k } else { fresh.below(k + 1) });
        }
        fresh.says("lengths", &all);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week3-day6 task 4");
    let mut drafter = draft_model(model("llama"), 40);
    let mut text = fresh.tokens(fresh.from_to(1, 8), VOCABULARY);
    for _ in 0..5 {
        let k = fresh.from_to(1, 5);
        let drafts = drafter
            .draft(&text, k, &greedy(), &mut Rng::new(1))
            .expect("draft must accept this text");
        let tokens: Vec<u32> = drafts.iter().map(|draft| draft.token).collect();
        fresh.says("drafts", &tokens);
        text.extend(&tokens[..fresh.below(k)]);
        text.push(fresh.below(VOCABULARY) as u32);
    }
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week3-day6 task 5");
    let mut text = fresh.tokens(fresh.from_to(1, 8), VOCABULARY);
    let proposed = fresh.tokens(8, VOCABULARY);
    let drafter = Scripted(|_: &[u32], k: usize| proposed[..k.min(8)].to_vec());
    let (mut speculation, mut session) = (speculation(drafter, 4), session(model("llama"), 40));
    let mut rng = Rng::new(fresh.u64());
    let sampling = SamplerOptions { temperature: 0.7, ..SamplerOptions::default() };
    for _ in 0..5 {
        speculation
            .step(&mut session, &mut text, (5, 4), &sampling, &mut rng)
            .expect("the text fits");
        fresh.says("text", &(&text, session.tokens()));
    }
}
