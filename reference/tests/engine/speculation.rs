//! Speculation with a single sequence. Checks that the text is the same with and without drafts,
//! and counts the rows of drafts that are always rejected.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use tiny_llm_reference::{
    week1::{
        generate::{Limits, argmax},
        sampling::{Rng, SamplerOptions},
    },
    week2::{cache::CacheType, generate::Session, model::Model},
    week3::{
        accept::Draft,
        draft_backoff::DraftBackoff,
        draft_length::{Costs, DraftLength, PROBE},
        drafter::{DraftModel, Drafter},
        lookup_drafter::LookupDrafter,
        speculate::{Counts, Speculation},
    },
};

use crate::setup::{embedded, plan};

const CONTEXT: usize = 256;
const NEW: usize = 200;
const MOST: usize = 8;
const COSTS: Costs = Costs { row: 0.25, draft: 0.0 };

fn session(model: &Arc<Model>) -> Session {
    Session::new(Arc::clone(model), plan(1), CONTEXT, CacheType::F16)
}

/// Returns limits without stop tokens.
fn limits() -> Limits {
    Limits { max_new_tokens: NEW, context: CONTEXT, stop_tokens: HashSet::new() }
}

fn prompts() -> [Vec<u32>; 2] {
    [vec![700, 701, 15, 900], (0..30).map(|i| 400 + i % 6).collect()]
}

/// Proposes token 1, which the model never generates here.
struct Wrong(usize);

impl Drafter for Wrong {
    fn draft(
        &mut self,
        _: &[u32],
        k: usize,
        _: &SamplerOptions,
        _: &mut Rng,
    ) -> anyhow::Result<Vec<Draft>> {
        Ok(vec![Draft::certain(1, self.0); k])
    }
}

/// Returns the text that the model generates without drafts.
fn alone(model: &Arc<Model>, prompt: &[u32]) -> Vec<u32> {
    let mut text = Vec::new();
    let on_token = |token| {
        text.push(token);
        ControlFlow::Continue(())
    };
    let choose = |logits: &[f32], _: &[u32]| argmax(logits);
    session(model).generate(prompt, 64, &limits(), choose, on_token).expect("a good prompt");
    text
}

/// Returns the text generated with drafts, the counts, and the rows computed after the prompt.
fn with<D: Drafter>(
    model: &Arc<Model>,
    prompt: &[u32],
    mut speculation: Speculation<D>,
) -> (Vec<u32>, Counts, usize) {
    let (mut session, mut text) = (session(model), Vec::new());
    let on_token = |token| {
        text.push(token);
        ControlFlow::Continue(())
    };
    let drawn = (&SamplerOptions::greedy(), &mut Rng::new(0));
    speculation
        .generate(&mut session, (prompt, 64), &limits(), drawn, on_token)
        .expect("a good prompt");
    let rows = session.cache().computed() - prompt.len();
    (text, speculation.counts(), rows)
}

#[test]
fn text_is_independent_of_the_drafter() {
    let model = embedded("tiny-story", CONTEXT);
    let vocabulary = model.config.vocab_size;
    for prompt in prompts() {
        let expected = alone(&model, &prompt);
        assert!(!expected.contains(&1), "the token that is always wrong");
        let smaller = DraftModel::new(session(&embedded("tiny-story-draft", CONTEXT)), vocabulary);
        let drafters: [(&str, Box<dyn Drafter>); 3] = [
            ("lookup", Box::new(LookupDrafter { longest: 4, vocabulary })),
            ("a smaller model", Box::new(smaller.expect("one vocabulary"))),
            ("nobody who knows", Box::new(Wrong(vocabulary))),
        ];
        for (who, drafter) in drafters {
            let mut speculation = Speculation::new(drafter, DraftLength::new(MOST, COSTS));
            speculation.backoff = Some(DraftBackoff::default());
            let (found, counts, rows) = with(&model, &prompt, speculation);
            assert_eq!(found, expected, "drafts by {who}, behind {prompt:?}");
            // Each pass after the prompt has one row, plus one for each draft.
            assert_eq!(rows as u64, counts.passes - 1 + counts.drafted, "drafts by {who}");
            assert_eq!(counts.passes + counts.accepted, NEW as u64, "drafts by {who}");
        }
    }
}

/// With fixed costs, one draft is tried at first and rejected, then one in every `PROBE` passes.
#[test]
fn rejected_drafts_are_tried_once_per_probe_interval() {
    let model = embedded("tiny-story", CONTEXT);
    for prompt in prompts() {
        let expected = alone(&model, &prompt);
        let length = DraftLength::doubtful(MOST, COSTS);
        let drafter = Wrong(model.config.vocab_size);
        let (found, counts, rows) = with(&model, &prompt, Speculation::new(drafter, length));
        assert_eq!(found, expected, "behind {prompt:?}");
        // The last pass has no room for a draft.
        let trials = (NEW - 2) / PROBE;
        assert_eq!((counts.drafted, counts.accepted), (1 + trials as u64, 0), "{counts:?}");
        assert_eq!(rows, NEW - 1 + 1 + trials, "behind {prompt:?}");
    }
}

/// With measured costs, pauses between trials grow, so a long text has few trials. This must hold
/// for any measured times.
#[test]
fn growing_pauses_limit_rejected_drafts() {
    let model = embedded("tiny-story", CONTEXT);
    for prompt in prompts() {
        let expected = alone(&model, &prompt);
        let length = DraftLength::doubtful(MOST, COSTS);
        let mut speculation = Speculation::new(Wrong(model.config.vocab_size), length);
        speculation.backoff = Some(DraftBackoff::default());
        let (found, counts, _) = with(&model, &prompt, speculation);
        assert_eq!(found, expected, "behind {prompt:?}");
        assert!((1..=24).contains(&counts.drafted), "{counts:?}");
    }
}
