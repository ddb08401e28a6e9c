//! Models, plans, and runs of an engine that several tests have in common.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use tiny_llm_reference::{
    week2::{
        kernels::{Choice, Rung},
        load::load_folder,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
    },
    week3::{
        engine::{Engine, Event},
        pass::Pass,
        request::Request,
        room::EngineCache,
    },
};

/// Returns an embedded model.
pub(crate) fn embedded(name: &str, context: usize) -> Arc<Model> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    Arc::new(load_folder(&models.join(name), context).expect("an embedded model"))
}

/// Returns the plan of a server: the best kernels whose rows don't depend on the batch.
pub(crate) fn plan(threads: usize) -> Arc<Plan> {
    Arc::new(Plan {
        kernels: Choice::from(Rung::best()).alike(),
        attention: AttentionKind::Streaming,
        team: Team::new(threads),
    })
}

/// Submits each of the `requests` at the step that it is paired with. Returns the answers, and the
/// engine when it is idle.
pub(crate) fn answers<C: EngineCache, P: Pass<C>>(
    mut engine: Engine<C, P>,
    requests: &[(usize, Request)],
    what: &str,
) -> (Vec<Vec<u32>>, Engine<C, P>) {
    let mut answers = vec![Vec::new(); requests.len()];
    let (mut numbers, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for step in 0..2000 {
        for (i, (_, request)) in requests.iter().enumerate().filter(|(_, (at, _))| *at == step) {
            numbers.insert(engine.submit(request.clone()).expect("a good request"), i);
        }
        engine.step(&mut |event| match event {
            Event::Token { id, token } => answers[numbers[&id]].push(token),
            Event::Finished { id, reason } => {
                assert_eq!(ends.insert(id, reason), None, "{what}: request {id} ended twice");
            }
        });
        if numbers.len() == requests.len() && engine.is_idle() {
            return (answers, engine);
        }
    }
    panic!("{what}: still at work after 2000 steps");
}
