//! Combines JSON constraints, drafts, budgets, a lack of pages, shared prefixes and cancelled
//! requests in random schedules. Every request must get the same answer as alone.

use std::{collections::BTreeMap, sync::Arc};

use tiny_llm_harness::fixtures::Json as Value;
use tiny_llm_reference::{
    week1::{
        generate::FinishReason,
        sampling::{Rng, SamplerOptions},
    },
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::vector::TILE,
        model::Model,
    },
    week3::{
        ahead::{Ahead, Pricing},
        constraint::{Constraint, Rules, Vocabulary},
        draft_length::Costs,
        engine::{Engine, Event},
        extras::Extras,
        in_parts::InParts,
        json_grammar::Json,
        options::{Counts, EngineOptions},
        paged::PagedCache,
        pass::ModelPass,
        prefix_hash::hash_page,
        propose::{LookupProposer, ModelProposer, Proposer},
        request::{Request, Sequence},
        room::EngineCache,
        shared::SharedCache,
    },
};

use crate::setup::{embedded, plan};

const CONTEXT: usize = 128;
const SLOTS: usize = 4;
/// The stop token.
const STOP: u32 = 2;
/// The id of the first token with a text. Tokens with lower ids have an empty text.
const FIRST_TEXT: u32 = 300;

struct Random(Rng);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A model, the texts of its tokens in this test, and a draft model.
struct World {
    model: Arc<Model>,
    smaller: Arc<Model>,
    rules: Arc<Rules<Json>>,
    texts: Vec<Vec<u8>>,
    kind: CacheType,
}

impl World {
    fn new(kind: CacheType) -> Self {
        let model = embedded("tiny-story", CONTEXT);
        let mut texts = vec![Vec::new(); model.config.vocab_size];
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "{\"", "\":", "\",", "\"}", "}}", "],", " ", "\n",
            "true", "null", "false", "1", "20", "-", ".5", "e3", "a", "b", "cat", "red", "é",
            "\\n", "\\", "u00", "[{",
        ];
        // Several tokens have the same text.
        for (text, i) in texts[FIRST_TEXT as usize..].iter_mut().zip(0..40 * pieces.len()) {
            *text = pieces[i % pieces.len()].as_bytes().to_vec();
        }
        let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
        let rules = Arc::new(Rules::new(Json::Object, vocabulary));
        Self { model, smaller: embedded("tiny-story-draft", CONTEXT), rules, texts, kind }
    }

    fn shape(&self) -> CacheShape {
        CacheShape::of(&self.model.config, SLOTS, CONTEXT)
    }

    fn engine<C: EngineCache>(&self, cache: C, threads: usize, budget: Option<usize>) -> Engine<C> {
        let options = EngineOptions { budget, ..EngineOptions::default() };
        let pass = ModelPass::new(Arc::clone(&self.model), plan(threads));
        let texts = self.texts.clone();
        Engine::with_pass(
            pass,
            cache,
            options,
            Box::new(move |token| texts[token as usize].clone()),
        )
    }

    fn submit<C: EngineCache>(&self, engine: &mut Engine<C>, spec: &Spec) -> u64 {
        let constraint = spec.json.then(|| Constraint::new(&self.rules));
        let request = spec.request.clone();
        engine.submit_with(request, constraint, spec.extras).expect("a good request")
    }

    fn text(&self, tokens: &[u32]) -> Vec<u8> {
        tokens.iter().flat_map(|&token| self.texts[token as usize].clone()).collect()
    }
}

/// A request, whether its answer must be JSON, and its other options.
struct Spec {
    request: Request,
    json: bool,
    extras: Extras,
}

/// Returns requests with shared prefixes, repetitive prompts and equal prompts. They are greedy or
/// sampled, with and without JSON, penalties and stop texts.
fn requests(random: &mut Random) -> Vec<Spec> {
    let beginnings: Vec<Vec<u32>> = (0..3)
        .map(|i| (0..20 + 25 * i).map(|j| (350 + i * 100 + j * 7 % 90) as u32).collect())
        .collect();
    let mut all: Vec<Spec> = Vec::new();
    for i in 0..9 {
        let mut prompt = match random.below(4) {
            0 => (0..24).map(|j| 400 + j % 5).collect(),
            1 if i > 0 => all[random.below(i)].request.prompt.clone(),
            _ => beginnings[random.below(3)].clone(),
        };
        prompt.truncate(80);
        prompt.extend((0..random.below(4)).map(|_| random.0.next_u64() as u32 % 1500));
        let json = random.below(2) == 0;
        let temperature = random.one_of(&[0.0, 0.0, 0.7, 1.5]);
        let request = Request {
            prompt,
            max_new_tokens: 4 + random.below(30),
            stop_tokens: vec![STOP],
            stop_texts: if !json && random.below(3) == 0 { vec![b"cat".to_vec()] } else { vec![] },
            sampling: SamplerOptions {
                temperature,
                top_k: random.one_of(&[0, 0, 30]),
                repetition_penalty: random.one_of(&[1.0, 1.0, 1.2]),
                ..SamplerOptions::default()
            },
            seed: random.0.next_u64(),
        };
        let presence = random.one_of(&[0.0, 0.0, 0.5]);
        all.push(Spec { request, json, extras: Extras { presence, ..Extras::default() } });
    }
    all
}

type Answer = (Vec<u32>, FinishReason);

/// Returns the answer that a request gets alone, on a dense cache without a budget or drafts.
fn alone(world: &World, spec: &Spec) -> Answer {
    let dense = DenseCache::new(world.shape(), world.kind);
    let mut engine = world.engine(InParts::new(dense), 1, None);
    world.submit(&mut engine, spec);
    let (mut tokens, mut end) = (Vec::new(), None);
    while end.is_none() {
        engine.step(&mut |event| match event {
            Event::Token { token, .. } => tokens.push(token),
            Event::Finished { reason, .. } => end = Some(reason),
        });
    }
    (tokens, end.expect("it has ended"))
}

/// Proposes each request's known answer with some wrong tokens, or arbitrary tokens without one.
struct Known {
    texts: BTreeMap<u64, Vec<u32>>,
    random: Random,
}

impl Proposer for Known {
    fn propose(&mut self, requests: &[Sequence], most: &[usize], drafts: &mut [Vec<u32>]) {
        for ((request, &most), drafts) in requests.iter().zip(most).zip(drafts) {
            let text = self.texts.get(&request.id).map_or(&[][..], Vec::as_slice);
            let rest = text.iter().skip(request.tokens.len()).copied();
            for token in rest.chain([5, 6, 7]).take(self.random.below(most + 1)) {
                drafts.push(if self.random.below(5) == 0 { 1 } else { token });
            }
        }
    }
}

/// Counts of events in all schedules so far, to show that each kind of event occurred.
#[derive(Debug, Default)]
struct Met {
    preempted: u64,
    attached: u64,
    accepted: u64,
    refused: u64,
    /// Accepted drafts of requests with a JSON constraint.
    accepted_in_forms: u64,
    cancelled: usize,
}

/// Settings of one schedule, which is one run of all requests.
struct Schedule {
    name: String,
    budget: Option<usize>,
    drafts: usize,
    threads: usize,
}

/// Runs the requests `all` in one engine, and compares the answers with `expected`.
fn drive<C: EngineCache>(
    world: &World,
    (all, expected): (&[Spec], &[Answer]),
    (schedule, cache): (&Schedule, C),
    random: &mut Random,
    met: &mut Met,
) {
    let mut engine = world.engine(cache, schedule.threads, schedule.budget);
    // Guests are extra requests, which may be cancelled. A request's id is its index in `coming`.
    let mut order: Vec<usize> = (0..all.len()).collect();
    (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
    let guests: Vec<bool> = (0..2 * all.len()).map(|_| random.below(4) == 0).collect();
    let mut ids: BTreeMap<u64, usize> = BTreeMap::new();
    let mut coming: Vec<Option<usize>> = Vec::new();
    for (i, guest) in order.into_iter().zip(guests) {
        coming.extend(guest.then_some(None));
        coming.push(Some(i));
    }
    let texts = coming.iter().zip(0..).filter_map(|(one, id)| {
        let i = (*one)?;
        Some((id, [&all[i].request.prompt[..], &expected[i].0, &[STOP]].concat()))
    });
    let known = Known { texts: texts.collect(), random: Random(Rng::new(random.0.next_u64())) };
    let free = Pricing::Fixed(Costs { row: 0.0, draft: 0.0 });
    let vocabulary = world.model.config.vocab_size;
    let drafts: Option<(Box<dyn Proposer>, Pricing)> = match schedule.drafts {
        0 => None,
        1 => Some((Box::new(known), free)),
        2 => Some((Box::new(LookupProposer { longest: 3 }), free)),
        3 => Some((Box::new(known), Pricing::Measured)),
        _ => {
            let (smaller, sizes) = (Arc::clone(&world.smaller), (SLOTS, CONTEXT));
            let model = ModelProposer::new(smaller, plan(1), sizes, world.kind, vocabulary);
            Some((Box::new(model.expect("one vocabulary")), free))
        }
    };
    if let Some((proposer, pricing)) = drafts {
        engine = engine.with_drafts(Ahead::new(proposer, SLOTS, 5, pricing));
    }
    let mut found: BTreeMap<u64, (Vec<u32>, Option<FinishReason>)> = BTreeMap::new();
    let mut coming = coming.into_iter();
    let mut guests: Vec<u64> = Vec::new();
    let mut all_have_come = false;
    for _ in 0..3000 {
        while !all_have_come && random.below(3) > 0 {
            match coming.next() {
                Some(Some(i)) => {
                    ids.insert(world.submit(&mut engine, &all[i]), i);
                }
                Some(None) => guests.push(world.submit(&mut engine, &all[random.below(all.len())])),
                None => all_have_come = true,
            }
        }
        if random.below(6) == 0
            && let Some(id) = guests.pop()
        {
            met.cancelled += usize::from(engine.cancel(id));
        }
        let before = (engine.drafted().accepted, engine.counts());
        let mut emitted: BTreeMap<u64, u64> = BTreeMap::new();
        engine.step(&mut |event| match event {
            Event::Token { id, token } => {
                *emitted.entry(id).or_default() += 1;
                found.entry(id).or_default().0.push(token);
            }
            Event::Finished { id, reason } => {
                let before = found.entry(id).or_default().1.replace(reason);
                assert_eq!(before, None, "{}: request {id} ended twice", schedule.name);
            }
        });
        check_step(schedule, engine.counts(), before.1);
        let form = |id: &u64| ids.get(id).is_some_and(|&i| all[i].json);
        let in_forms = emitted.iter().filter(|(id, n)| **n > 1 && form(id)).map(|(_, n)| n - 1);
        met.accepted_in_forms += in_forms.sum::<u64>();
        if all_have_come && engine.is_idle() {
            break;
        }
    }
    assert!(engine.is_idle(), "{}: still at work after 3000 steps", schedule.name);
    for (id, i) in ids {
        let spec = &all[i];
        let what = format!(
            "{}: request {i}, {:?}, JSON {} (left: in the batch, right: alone)",
            schedule.name, spec.request, spec.json
        );
        let (tokens, end) = found.remove(&id).unwrap_or_default();
        assert_eq!((tokens, end), (expected[i].0.clone(), Some(expected[i].1)), "{what}");
    }
    met.preempted += engine.counts().preempted;
    met.attached += engine.attached();
    let drafted = engine.drafted();
    met.accepted += drafted.accepted;
    met.refused += drafted.drafted - drafted.accepted;
}

fn check_step(schedule: &Schedule, now: Counts, before: Counts) {
    let rows = now.rows - before.rows;
    let most = schedule.budget.unwrap_or(usize::MAX) as u64;
    assert!(rows <= most, "{}: {rows} rows in a step", schedule.name);
}

#[test]
fn answers_are_independent_of_the_schedule() {
    let worlds = [CacheType::F16, CacheType::Q8_0].map(World::new);
    let mut met = Met::default();
    for round in 0..4 {
        let world = &worlds[round as usize % 2];
        let mut random = Random(Rng::new(900 + round));
        let all = requests(&mut random);
        let expected: Vec<Answer> = all.iter().map(|spec| alone(world, spec)).collect();
        for (spec, (tokens, end)) in all.iter().zip(&expected).filter(|(spec, _)| spec.json) {
            let text = String::from_utf8(world.text(tokens)).expect("UTF-8");
            assert!(
                text.parse::<Value>().is_ok_and(|value| value.is_object()),
                "at most {} tokens, {end:?}: found {text:?}, expected an object",
                spec.request.max_new_tokens
            );
        }
        for turn in 0..6 {
            let budget = random.one_of(&[None, Some(2), Some(5), Some(12), Some(40)]);
            let page_len = TILE * random.one_of(&[1, 2]);
            let pages = CONTEXT / page_len + random.below(3);
            let kind = turn % 3;
            let schedule = Schedule {
                name: format!(
                    "round {round}, turn {turn}: {}, {pages} pages of {page_len}, budget {budget:?}",
                    ["one piece", "pages", "pages that are remembered"][kind]
                ),
                budget,
                drafts: (round as usize + turn) % 5,
                threads: 1 + random.below(2),
            };
            let requests = (&all[..], &expected[..]);
            let paged = || PagedCache::new(world.shape(), page_len, pages, world.kind);
            match kind {
                0 => {
                    let cache = InParts::new(DenseCache::new(world.shape(), world.kind));
                    drive(world, requests, (&schedule, cache), &mut random, &mut met);
                }
                1 => {
                    let cache = InParts::new(paged());
                    drive(world, requests, (&schedule, cache), &mut random, &mut met);
                }
                _ => {
                    let cache = InParts::new(SharedCache::new(paged(), 7, hash_page));
                    drive(world, requests, (&schedule, cache), &mut random, &mut met);
                }
            }
        }
    }
    // An event that never happened was not tested.
    let Met { preempted, attached, accepted, refused, accepted_in_forms, cancelled } = met;
    assert!(preempted > 5 && attached > 100 && cancelled > 5, "{met:?}");
    assert!(accepted > 100 && refused > 100 && accepted_in_forms > 20, "{met:?}");
}
