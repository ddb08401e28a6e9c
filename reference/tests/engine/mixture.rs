//! Models with experts in week 3's engine. Checks that answers are independent of the batch and of
//! the kind of cache.

use std::{path::Path, sync::Arc};

use tiny_llm_reference::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::vector::TILE,
    },
    week3::{
        engine::Engine, in_parts::InParts, options::EngineOptions, paged::PagedCache,
        prefix_hash::hash_page, request::Request, room::EngineCache, shared::SharedCache,
    },
    week4::mixture::{
        load::load_folder, model::MixtureModel, pass::MixturePass, session::MixtureSession,
    },
};

use crate::setup::{self, plan};

const CONTEXT: usize = 160;

/// Returns the embedded model. If `sinks`, adds attention sinks and windows like gpt-oss's.
fn model(sinks: bool) -> Arc<MixtureModel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-mixture");
    let mut model = load_folder(&folder, CONTEXT).expect("the embedded model");
    if sinks {
        let heads = model.config.base.n_heads;
        for (i, layer) in model.layers.iter_mut().enumerate() {
            layer.sinks = Some((0..heads).map(|h| h as f32 * 0.5 - 1.0).collect());
            layer.window = (i % 2 == 0).then_some(24);
            model.config.windows[i] = layer.window;
        }
    }
    Arc::new(model)
}

fn shape(model: &MixtureModel, sequences: usize) -> CacheShape {
    CacheShape::of(&model.config.base, sequences, CONTEXT)
}

/// Returns greedy and sampled requests. Two of three share a prefix.
fn requests(model: &MixtureModel, rng: &mut Rng) -> Vec<Request> {
    let vocabulary = model.config.base.vocab_size as u64;
    let mut token = || (rng.next_u64() % vocabulary) as u32;
    let beginning: Vec<u32> = (0..40).map(|_| token()).collect();
    let lengths = [3, 44, 1, 70, 12, 50, 2, 45];
    let request = |(i, &len): (usize, &usize)| {
        let own: Vec<u32> = (0..len).map(|_| token()).collect();
        let prompt = if i % 3 == 0 { own } else { [&beginning[..], &own].concat() };
        Request {
            prompt: prompt[..prompt.len().min(90)].to_vec(),
            max_new_tokens: 8 + 6 * i,
            stop_tokens: Vec::new(),
            stop_texts: Vec::new(),
            sampling: SamplerOptions {
                temperature: if i % 2 == 0 { 0.0 } else { 0.8 },
                ..SamplerOptions::default()
            },
            seed: i as u64,
        }
    };
    lengths.iter().enumerate().map(request).collect()
}

/// Submits each of the `requests` at the step that it is paired with. Returns the answers.
fn answers<C: EngineCache>(
    model: &Arc<MixtureModel>,
    cache: C,
    (threads, budget): (usize, Option<usize>),
    requests: &[(usize, Request)],
    what: &str,
) -> Vec<Vec<u32>> {
    let options = EngineOptions { budget, ..EngineOptions::default() };
    let pass = MixturePass::new(Arc::clone(model), plan(threads));
    let engine = Engine::with_pass(pass, cache, options, Box::new(|_| Vec::new()));
    setup::answers(engine, requests, what).0
}

#[test]
fn answers_are_independent_of_the_batch() {
    for (sinks, kind) in [(false, CacheType::F16), (true, CacheType::F16), (true, CacheType::Q8_0)]
    {
        let (model, mut rng) = (model(sinks), Rng::new(6));
        let requests = requests(&model, &mut rng);
        let dense = |sequences| InParts::new(DenseCache::new(shape(&model, sequences), kind));
        let alone: Vec<Vec<u32>> = requests
            .iter()
            .map(|request| {
                answers(&model, dense(1), (1, None), &[(0, request.clone())], "alone").remove(0)
            })
            .collect();
        for round in 0..8 {
            let mut below = |n: u64| (rng.next_u64() % n) as usize;
            let schedule: Vec<(usize, Request)> =
                requests.iter().map(|request| (below(30), request.clone())).collect();
            let how = (1 + round % 2, [None, Some(5), Some(16), Some(33)][below(4)]);
            let places = 2 + below(4);
            let what = format!("sinks {sinks}, round {round}, {places} places, {how:?}");
            // With so few pages, some requests are preempted.
            let pages = || PagedCache::new(shape(&model, places), TILE, 9, kind);
            let found = match round % 3 {
                0 => answers(&model, dense(places), how, &schedule, &what),
                1 => answers(&model, InParts::new(pages()), how, &schedule, &what),
                _ => {
                    let shared = InParts::new(SharedCache::new(pages(), 0, hash_page));
                    answers(&model, shared, how, &schedule, &what)
                }
            };
            for (i, alone) in alone.iter().enumerate() {
                assert_eq!(&found[i], alone, "{what}: request {i}");
            }
        }
    }
}

#[test]
fn greedy_answers_match_a_session() {
    for (sinks, kind) in [(false, CacheType::F16), (true, CacheType::F16), (true, CacheType::Q8_0)]
    {
        let model = model(sinks);
        let requests = requests(&model, &mut Rng::new(7));
        for request in requests.into_iter().filter(|request| request.sampling.temperature == 0.0) {
            let mut session = MixtureSession::new(Arc::clone(&model), plan(1), 32, kind);
            let (mut tokens, new) = (request.prompt.clone(), request.max_new_tokens);
            for _ in 0..new {
                let logits = session.logits_after(&tokens, |_| {}).expect("good tokens");
                let best = (0..logits.len()).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
                tokens.push(best.expect("logits") as u32);
            }
            let cache = InParts::new(DenseCache::new(shape(&model, 1), kind));
            let prompt = request.prompt.len();
            let found = answers(&model, cache, (1, None), &[(0, request)], "alone");
            assert_eq!(found[0], tokens[prompt..], "sinks {sinks}, a prompt of {prompt}");
        }
    }
}
