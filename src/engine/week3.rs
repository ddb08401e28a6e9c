//! Week 3's engine: many requests at once.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use tiny_llm::{
    week1::sampling::SamplerOptions,
    week2::{cache::CacheType, model::Model},
    week3::{
        engine::{Engine, EngineOptions, Event},
        request::{Request, Sequence},
        room::dense,
        scheduler::{Load, Scheduler},
        timeline::{Moment, Record, quantile},
    },
};
use tiny_llm_cli::{
    Batch, BatchCounts, BatchEvent, BatchOptions, BatchRequest, BatchRow, BatchWaits, Sampling,
    TokenBytes,
};

use super::{finite::explained, week2::Week2, written::is_written};

/// Rows a step, where nobody says otherwise: as many as the kernels for prompts like to have.
const BUDGET: usize = 512;

/// Requests and the model that answers them.
pub(crate) struct Week3 {
    engine: Engine,
    path: PathBuf,
    /// Of the requests that are over.
    records: Vec<Record>,
}

impl Week3 {
    /// Of a model that week 2's engine has loaded.
    pub(crate) fn new(
        loaded: Week2,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Self> {
        let (model, plan, cache_type, path) = loaded.into_parts();
        let context = model.config.max_positions;
        let bytes = cache_bytes(&model, options.max_batch, context, cache_type);
        let room = bytes.is_some_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok());
        if !room {
            return Err(anyhow!(
                "there is no room for the keys and values of {} sequences of {context} tokens; ask for a smaller --max-batch or --context",
                options.max_batch
            ));
        }
        let cache = dense(&model, options.max_batch, context, cache_type);
        // What day 2 has not written is left out.
        let budget = match options.budget {
            Some(rows) => Some(rows).filter(|&rows| rows > 0),
            None => is_written(schedule).then_some(BUDGET),
        };
        let options = EngineOptions { budget, records: is_written(record), ..Default::default() };
        let engine = Engine::new(model, plan, cache, options, token_bytes);
        Ok(Self { engine, path, records: Vec::new() })
    }
}

/// Shares rows between two requests.
fn schedule() {
    let load = |decoding| Load { left: 1, decoding, waited: 0 };
    Scheduler::new(2).shares(&[load(true), load(false)], &mut Vec::new());
}

/// Records a token.
fn record() {
    let mut record = Record::new(Moment::default());
    record.token(Moment { steps: 1, rows: 1 });
    let _ = (record.time_to_first_token(), quantile(&mut [1], 0.5));
}

/// What a dense cache takes.
fn cache_bytes(model: &Model, sequences: usize, context: usize, kind: CacheType) -> Option<usize> {
    let c = &model.config;
    let size = match kind {
        CacheType::F32 => 4,
        CacheType::F16 => 2,
    };
    [c.n_layers, c.n_kv_heads, c.head_dim, context, sequences, size]
        .into_iter()
        .try_fold(2usize, usize::checked_mul)
}

impl Batch for Week3 {
    fn submit(&mut self, request: BatchRequest) -> Result<u64> {
        let BatchRequest { request, stop_texts } = request;
        let Sampling { temperature, top_k, top_p, min_p, repetition_penalty, seed } =
            request.sampling;
        self.engine.submit(Request {
            prompt: request.prompt,
            max_new_tokens: request.max_new_tokens,
            stop_tokens: request.stop_tokens,
            stop_texts,
            sampling: SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty },
            seed,
        })
    }

    fn step(&mut self, on_event: &mut dyn FnMut(BatchEvent)) -> Result<()> {
        self.engine.step(&mut |event| {
            on_event(match event {
                Event::Token { id, token } => BatchEvent::Token(id, token),
                Event::Finished { id, reason } => BatchEvent::Finished(id, reason),
            });
        });
        if self.engine.is_broken() { Err(explained(&self.path)) } else { Ok(()) }
    }

    fn rows(&self) -> Vec<BatchRow> {
        let running = self.engine.running().iter();
        let row = |sequence: &Sequence| {
            Some(BatchRow {
                slot: sequence.slot?,
                id: sequence.id,
                prompt: sequence.prompt_len,
                computed: sequence.num_computed,
                new: sequence.tokens.len() - sequence.prompt_len,
            })
        };
        running.filter_map(row).collect()
    }

    fn counts(&self) -> BatchCounts {
        let counts = self.engine.counts();
        BatchCounts { steps: counts.steps, rows: counts.rows }
    }

    fn waits(&mut self) -> Option<BatchWaits> {
        self.records.extend(self.engine.take_records().into_iter().map(|(_, record)| record));
        let both = |number: &dyn Fn(&Record) -> Option<u64>| {
            let mut numbers: Vec<u64> = self.records.iter().filter_map(number).collect();
            Some([quantile(&mut numbers, 0.5)?, quantile(&mut numbers, 0.99)?])
        };
        Some(BatchWaits {
            first_token_steps: both(&|record| Some(record.time_to_first_token()?.steps))?,
            first_token_rows: both(&|record| Some(record.time_to_first_token()?.rows))?,
            longest_gap_rows: both(&|record| record.first_token.map(|_| record.longest_gap.rows))?,
        })
    }
}
