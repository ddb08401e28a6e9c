//! Checks that drafts change no answer, with any proposer, cache, budget and number of threads, and
//! that a step allocates nothing.

use std::sync::Arc;

use tiny_llm_harness::allocations::count;
use tiny_llm_reference::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::vector::TILE,
        model::Model,
    },
    week3::{
        ahead::{Ahead, Pricing},
        draft_length::Costs,
        engine::Engine,
        in_parts::InParts,
        options::EngineOptions,
        paged::PagedCache,
        pass::ModelPass,
        propose::{LookupProposer, ModelProposer, Proposer},
        request::{Request, Sequence},
        room::EngineCache,
    },
};

use crate::setup::{answers, embedded, plan};

const SLOTS: usize = 3;
const CONTEXT: usize = 128;

fn shape(model: &Model) -> CacheShape {
    CacheShape::of(&model.config, SLOTS, CONTEXT)
}

fn paged(model: &Model, pages: usize) -> PagedCache {
    PagedCache::new(shape(model), TILE, pages, CacheType::F16)
}

/// Returns greedy and sampled requests, which all come at the first step. Some share a prefix, and
/// one prompt is repetitive.
fn requests() -> Vec<(usize, Request)> {
    let beginning: Vec<u32> = (0..40).map(|i| 300 + i * 7 % 900).collect();
    let shared = |n: u32| beginning.iter().copied().chain(500..500 + n).collect::<Vec<u32>>();
    let repeated: Vec<u32> = (0..30).map(|i| 400 + i % 6).collect();
    let prompts = [shared(3), shared(1), vec![700, 701], repeated, shared(20), vec![900; 5]];
    let request = |(i, prompt): (usize, Vec<u32>)| Request {
        prompt,
        max_new_tokens: 24 + 5 * i,
        stop_tokens: vec![2],
        stop_texts: if i == 2 { vec![b"7".to_vec()] } else { Vec::new() },
        sampling: SamplerOptions {
            temperature: if i % 2 == 0 { 0.0 } else { 0.8 },
            top_k: if i == 3 { 20 } else { 0 },
            ..SamplerOptions::default()
        },
        seed: i as u64,
    };
    prompts.into_iter().enumerate().map(request).map(|request| (0, request)).collect()
}

fn engine<C: EngineCache>(
    model: &Arc<Model>,
    cache: C,
    threads: usize,
    budget: Option<usize>,
) -> Engine<C> {
    let options = EngineOptions { budget, records: true, ..EngineOptions::default() };
    let pass = ModelPass::new(Arc::clone(model), plan(threads));
    Engine::with_pass(pass, cache, options, Box::new(|token| token.to_string().into_bytes()))
}

/// Proposes the known answers, but with a wrong token at each index that `wrong` divides.
struct Known {
    texts: Vec<Vec<u32>>,
    wrong: usize,
}

impl Proposer for Known {
    fn propose(&mut self, requests: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]) {
        for ((request, &most), drafts) in requests.iter().zip(most).zip(drafts) {
            let text = &self.texts[request.id as usize];
            let rest = text.iter().enumerate().skip(request.tokens.len()).take(most);
            drafts.extend(rest.map(|(i, &token)| if i % self.wrong == 0 { 1 } else { token }));
        }
    }
}

/// Proposes random tokens.
struct Noise(Rng);

impl Proposer for Noise {
    fn propose(&mut self, _: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]) {
        for (&most, drafts) in most.iter().zip(drafts) {
            let n = self.0.next_u64() as usize % (most + 1);
            drafts.extend((0..n).map(|_| (self.0.next_u64() % 1500) as u32));
        }
    }
}

/// Prices of 0 for drafts, so that as many are proposed as fit.
const FREE: Pricing = Pricing::Fixed(Costs { row: 0.0, draft: 0.0 });

fn ahead(proposer: impl Proposer + 'static, pricing: Pricing) -> Ahead {
    Ahead::new(Box::new(proposer), SLOTS, 5, pricing)
}

/// Returns a proposer with a smaller model, which has the vocabulary of `model`.
fn smaller(model: &Model) -> ModelProposer {
    let (draft, vocabulary) = (embedded("tiny-story-draft", CONTEXT), model.config.vocab_size);
    ModelProposer::new(draft, plan(1), (SLOTS, CONTEXT), CacheType::F16, vocabulary)
        .expect("one vocabulary")
}

/// Returns every proposer with a name.
fn proposers(model: &Model, expected: &[Vec<u32>]) -> Vec<(&'static str, Ahead)> {
    let texts = || {
        let texts = requests().into_iter().zip(expected);
        texts.map(|((_, request), answer)| [&request.prompt[..], answer].concat()).collect()
    };
    vec![
        ("all known", ahead(Known { texts: texts(), wrong: usize::MAX }, FREE)),
        ("every third wrong", ahead(Known { texts: texts(), wrong: 3 }, FREE)),
        ("noise", ahead(Noise(Rng::new(3)), FREE)),
        ("lookup", ahead(LookupProposer { longest: 3 }, Pricing::Measured)),
        ("a smaller model", ahead(smaller(model), FREE)),
    ]
}

#[test]
fn drafts_change_no_answer() {
    let model = embedded("tiny-story", CONTEXT);
    let dense = || InParts::new(DenseCache::new(shape(&model), CacheType::F16));
    let (expected, alone) =
        answers(engine(&model, dense(), 1, None), &requests(), "without drafts");
    let whole = alone.counts().steps;
    for (who, ahead) in proposers(&model, &expected) {
        let what = format!("drafts by {who}, dense, two threads");
        let engine = engine(&model, dense(), 2, None).with_drafts(ahead);
        let (found, engine) = answers(engine, &requests(), &what);
        assert_eq!(found, expected, "{what}");
        let counts = engine.drafted();
        if who == "all known" {
            assert_eq!(counts.accepted, counts.drafted, "{what}");
            let steps = engine.counts().steps;
            assert!(3 * steps < whole, "{what}: {steps} steps instead of {whole}");
        }
        if who == "noise" {
            assert!(counts.drafted > 50 && counts.accepted < 5, "{what}: {counts:?}");
        }
    }
    for budget in [2, 7, 16] {
        for (who, ahead) in proposers(&model, &expected) {
            let what = format!("drafts by {who}, pages, at most {budget} rows a step");
            let cache = InParts::new(paged(&model, 12));
            let engine = engine(&model, cache, 1, Some(budget)).with_drafts(ahead);
            let (found, engine) = answers(engine, &requests(), &what);
            assert_eq!(found, expected, "{what}");
            assert!(engine.counts().most_rows <= budget, "{what}: {:?}", engine.counts());
            let pool = engine.cache().inner().pool();
            assert_eq!(pool.num_free(), 12, "{what}: number of free pages at the end");
        }
    }
}

/// Uses the settings of a server: pages in parts, a budget, records and the best kernels.
#[test]
fn a_step_allocates_nothing() {
    let model = embedded("tiny-story", CONTEXT);
    for drafts in ["none", "lookup", "model"] {
        let cache = InParts::new(paged(&model, 12));
        let mut engine = engine(&model, cache, 1, Some(32));
        match drafts {
            "lookup" => engine = engine.with_drafts(ahead(LookupProposer { longest: 3 }, FREE)),
            "model" => engine = engine.with_drafts(ahead(smaller(&model), FREE)),
            _ => {}
        }
        for i in 0..SLOTS as u32 {
            let prompt = (0..20).map(|j| 400 + i + j % 5).collect();
            engine.submit(Request::greedy(prompt, 100)).expect("a good request");
        }
        (0..8).for_each(|_| engine.step(&mut |_| ()));
        let (found, ()) = count(|| (0..5).for_each(|_| engine.step(&mut |_| ())));
        assert_eq!(engine.running().len(), SLOTS, "all still run");
        assert_eq!(found, 0, "drafts by {drafts}: heap allocations of five steps");
    }
}
