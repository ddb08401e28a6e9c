//! Drafts: proposed tokens that the model verifies (week 3, day 6).

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result};
use tiny_llm::{
    week1::{generate::Limits, sampling::Rng},
    week2::{
        cache::CacheType, generate::Session, gguf::Gguf, load, model::Model, parallel::Team,
        plan::Plan,
    },
    week3::{
        draft_length::{Costs, DraftLength},
        drafter::{DraftModel, Drafter},
        lookup_drafter::LookupDrafter,
        speculate::{Counts, Speculation},
    },
};
use tiny_llm_cli::{Draft, OnToken};
use tiny_llm_formats::{FinishReason, request::Request};

/// Maximum proposed tokens per pass.
pub(super) const MOST: usize = 8;
/// The draft source `lookup` searches the text for an earlier copy of its last tokens. This is the
/// maximum number of these tokens.
pub(super) const LONGEST: usize = 4;
/// Number of bytes of weights that a thread reads in the time it takes to wake another thread.
const SMALL: u64 = 4 << 20;
/// Assumed cost of each further row of a forward pass, relative to a pass with only one row.
const ROW: f64 = 0.25;

/// The source of drafts, and its statistics.
pub(super) struct Drafts {
    speculation: Speculation<Box<dyn Drafter>>,
    /// The initial draft length. Each sampled answer starts with it again.
    begin: DraftLength,
    name: String,
    /// The counts of drafts and passes at the start of the last request.
    before: Counts,
}

impl Drafts {
    /// Creates the source of drafts that `draft` selects, for the session's model.
    pub(super) fn new(draft: &Draft, session: &Session, cache_type: CacheType) -> Result<Self> {
        let config = &session.model.config;
        let vocabulary = config.vocab_size;
        let mut costs = Costs { row: ROW, draft: 0.0 };
        let (drafter, name): (Box<dyn Drafter>, _) = match draft {
            Draft::Lookup => {
                (Box::new(LookupDrafter { longest: LONGEST, vocabulary }), "lookup".to_owned())
            }
            Draft::Model(path) => {
                let model = open(path, config.max_positions)?;
                let weights = session.model.weight_bytes().max(1);
                costs.draft = model.weight_bytes() as f64 / weights as f64;
                let context = model.config.max_positions;
                let plan = plan_for(&model, &session.plan);
                let drafts = Session::new(Arc::new(model), plan, context, cache_type);
                let drafts = DraftModel::new(drafts, vocabulary);
                let drafts = drafts.with_context(|| path.display().to_string())?;
                let name = path.file_name().unwrap_or(path.as_os_str());
                (Box::new(drafts), name.to_string_lossy().into_owned())
            }
        };
        let begin = match draft {
            Draft::Lookup => DraftLength::doubtful(MOST, costs),
            Draft::Model(_) => DraftLength::new(MOST, costs),
        };
        let speculation = Speculation::new(drafter, begin.clone());
        Ok(Self { speculation, begin, name, before: Counts::default() })
    }

    /// Returns the words about drafts to append to the engine's description.
    pub(super) fn described(&self) -> String {
        format!(", drafts by {}", self.name)
    }

    /// Describes how many drafts of the last request were accepted, and how many passes it took.
    pub(super) fn savings(&self) -> String {
        let (now, before) = (self.speculation.counts(), self.before);
        let passes = now.passes - before.passes;
        format!(
            "{} of {} accepted, {passes} pass{}",
            now.accepted - before.accepted,
            now.drafted - before.drafted,
            if passes == 1 { "" } else { "es" }
        )
    }

    /// Continues the request's prompt with drafts. The prompt is computed in chunks of `chunk`
    /// tokens.
    pub(super) fn answer(
        &mut self,
        session: &mut Session,
        request: &Request,
        chunk: usize,
        limits: &Limits,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason> {
        let Request { prompt, sampling, seed, .. } = request;
        let speculation = &mut self.speculation;
        self.before = speculation.counts();
        // A sampled text depends on the number of drafts, which must not depend on earlier requests
        // or on time. A greedy text does not depend on drafts.
        let greedy = sampling.is_greedy();
        if !greedy {
            speculation.length = self.begin.clone();
        }
        speculation.backoff = greedy.then(|| speculation.backoff.unwrap_or_default());
        let mut rng = Rng::new(*seed);
        speculation.generate(session, (prompt, chunk), limits, (sampling, &mut rng), on_token)
    }
}

/// Returns the plan for the draft model: `plan`, the main model's, but with one thread if the draft
/// model is small. Several threads would then wait for each other longer than they would compute.
pub(super) fn plan_for(drafts: &Model, plan: &Arc<Plan>) -> Arc<Plan> {
    if drafts.weight_bytes() > SMALL {
        return Arc::clone(plan);
    }
    Arc::new(Plan { kernels: plan.kernels, attention: plan.attention, team: Team::new(1) })
}

pub(super) fn open(path: &Path, context: usize) -> Result<Model> {
    if path.is_file() {
        load::load_gguf(&Gguf::open(path)?, context)
    } else {
        load::load_folder(path, context)
    }
}
