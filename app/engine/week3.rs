//! Week 3's engine: many requests at once.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::vector::TILE,
        plan::{AttentionKind, Plan},
    },
    week3::{
        ahead::{Ahead, Pricing},
        engine::Engine,
        in_parts::InParts,
        options::EngineOptions,
        paged::PagedCache,
        pass::Pass,
        prefix_hash::hash_page,
        prefix_index::PrefixIndex,
        propose::{LookupProposer, ModelProposer, Proposer},
        reader::Pages,
        request::Sequence,
        room::EngineCache,
        scheduler::{Load, Scheduler},
        shared::SharedCache,
        timeline::{Moment, Record, quantile},
    },
};
use tiny_llm_cli::{
    Batch, BatchCounts, BatchOptions, BatchRow, BatchWaits, CacheBytes, Draft, Form, PageCounts,
    PageUse, TokenBytes,
};
use tiny_llm_formats::{
    config::ModelConfig,
    request::{Chosen, Event, Extras, Request},
};

use super::{
    drafts,
    forms::Forms,
    model::{AnyPass, Loaded},
    written::{is_written, open_task_of_parts},
};

/// Default maximum number of rows per step: as many as the prompt kernels need to be efficient.
const BUDGET: usize = 512;
/// Positions per page: the smallest possible number, because it wastes the least memory.
const PAGE_LEN: usize = TILE;

/// A cache that may have pages.
pub(super) trait Paging: EngineCache {
    /// Returns the paged cache, if there is one.
    fn pages(&self) -> Option<&PagedCache>;

    /// Returns the index of remembered prefixes, if pages are remembered.
    fn index(&self) -> Option<&PrefixIndex> {
        None
    }
}

impl Paging for DenseCache {
    fn pages(&self) -> Option<&PagedCache> {
        None
    }
}

impl Paging for PagedCache {
    fn pages(&self) -> Option<&PagedCache> {
        Some(self)
    }
}

impl Paging for SharedCache {
    fn pages(&self) -> Option<&PagedCache> {
        Some(self.pages())
    }

    fn index(&self) -> Option<&PrefixIndex> {
        Some(self.index())
    }
}

impl<C: Paging + Pages> Paging for InParts<C> {
    fn pages(&self) -> Option<&PagedCache> {
        self.inner().pages()
    }

    fn index(&self) -> Option<&PrefixIndex> {
        self.inner().index()
    }
}

/// Returns the page counts, if there are pages.
pub(super) fn page_counts<C: Paging, P: Pass<C>>(
    engine: &Engine<C, P>,
    most_used: usize,
) -> Option<PageCounts> {
    let pool = engine.cache().pages()?.pool();
    let found = engine.cache().index().map(tiny_llm::week3::prefix_index::PrefixIndex::counts);
    Some(PageCounts {
        pages: pool.num_pages(),
        page_len: PAGE_LEN,
        used: pool.num_pages() - pool.num_free(),
        most_used,
        preempted: engine.counts().preempted,
        found: found.map(|counts| (counts.found, counts.asked)),
    })
}

/// Week 3's engine with any cache, and the data that the command line needs.
struct Week3<C> {
    engine: Engine<C, AnyPass>,
    /// The largest number of pages that were not free after a step.
    most_used: usize,
    /// Bytes of keys and values per position.
    position_bytes: u64,
    drafts: bool,
    /// Records of finished requests.
    records: Vec<Record>,
    forms: Forms,
}

/// The parts of a batch engine, except its cache.
struct Parts {
    pass: AnyPass,
    options: EngineOptions,
    token_bytes: TokenBytes,
    ahead: Option<Ahead>,
    position_bytes: u64,
    /// Whether attention runs in parts, which split the cache at fixed positions.
    in_parts: bool,
}

impl Parts {
    /// Creates the engine from these parts and `cache`.
    fn with<C: Paging + Pages + 'static>(self, cache: C) -> Box<dyn Batch> {
        if self.in_parts { self.around(InParts::new(cache)) } else { self.around(cache) }
    }

    fn around<C: Paging + 'static>(self, cache: C) -> Box<dyn Batch> {
        let Self { pass, options, token_bytes, ahead, position_bytes, .. } = self;
        let engine = Engine::with_pass(pass, cache, options, token_bytes);
        let drafts = ahead.is_some();
        let engine = match ahead {
            Some(ahead) => engine.with_drafts(ahead),
            None => engine,
        };
        let (forms, records) = (Forms::default(), Vec::new());
        Box::new(Week3 { engine, most_used: 0, position_bytes, drafts, records, forms })
    }
}

/// Creates the source of drafts for `slots` batch slots.
fn proposer(
    draft: &Draft,
    config: &ModelConfig,
    plan: &Arc<Plan>,
    slots: usize,
    cache_type: CacheType,
) -> Result<Box<dyn Proposer>> {
    Ok(match draft {
        Draft::Lookup => Box::new(LookupProposer { longest: drafts::LONGEST }),
        Draft::Model(path) => {
            let context = config.max_positions;
            let smaller = Arc::new(drafts::open(path, context)?);
            let (plan, vocabulary) = (drafts::plan_for(&smaller, plan), config.vocab_size);
            let proposer =
                ModelProposer::new(smaller, plan, (slots, context), cache_type, vocabulary);
            Box::new(proposer.with_context(|| path.display().to_string())?)
        }
    })
}

/// Creates a batch engine for a model that another engine has loaded.
///
/// # Errors
/// If memory is insufficient for the engine's cache, or the draft model cannot be opened.
pub(crate) fn open(
    loaded: Loaded,
    options: BatchOptions,
    token_bytes: TokenBytes,
) -> Result<Box<dyn Batch>> {
    let Loaded { model, mut plan, cache_type } = loaded;
    let config = model.config();
    // The result of a row must not depend on the others. Where week 2's kernels sum in a different
    // order for few rows, the provided kernels are used.
    let own = Arc::get_mut(&mut plan).expect("this is the plan's only owner");
    own.kernels = own.kernels.alike();
    let context = config.max_positions;
    let (sequences, positions) = match options.pages {
        Some(pages) => (1, pages.checked_mul(PAGE_LEN)),
        None => (options.max_batch, Some(context)),
    };
    let bytes =
        positions.and_then(|positions| cache_bytes(config, sequences, positions, cache_type));
    let room = bytes.is_some_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok());
    if !room {
        return Err(match options.pages {
            Some(pages) => anyhow!(
                "not enough memory for the keys and values of {pages} pages of {PAGE_LEN} \
                 positions; use a smaller --pages"
            ),
            None => anyhow!(
                "not enough memory for the keys and values of {sequences} × {context} tokens; use \
                 a smaller --max-batch or --context, or use --pages"
            ),
        });
    }
    let position_bytes = cache_bytes(config, 1, 1, cache_type).unwrap_or(0) as u64;
    let shape = CacheShape::of(config, options.max_batch, context);
    let ahead = options.draft.as_ref().map(|draft| {
        let proposer = proposer(draft, config, &plan, options.max_batch, cache_type)?;
        anyhow::Ok(Ahead::new(proposer, options.max_batch, drafts::MOST, Pricing::Measured))
    });
    // Without the option, there is no budget until day 2's tasks are written.
    let budget = match options.budget {
        Some(rows) => Some(rows).filter(|&rows| rows > 0),
        None => is_written(schedule).then_some(BUDGET),
    };
    let gap = Some(options.gap).filter(|&gap| gap > 0 && is_written(schedule));
    let records = is_written(record);
    let engine_options = EngineOptions { budget, gap, records, ..Default::default() };
    // Attention runs in parts once the task for that is written, so that answers don't depend on
    // the rest of the batch.
    let in_parts = plan.attention == AttentionKind::Streaming && open_task_of_parts().is_none();
    let parts = Parts {
        pass: model.pass(Arc::clone(&plan)),
        options: engine_options,
        token_bytes,
        ahead: ahead.transpose()?,
        position_bytes,
        in_parts,
    };
    let paged = |pages| PagedCache::new(shape, PAGE_LEN, pages, cache_type);
    Ok(match options.pages {
        None => parts.with(DenseCache::new(shape, cache_type)),
        Some(pages) if options.share_prefixes => {
            // The index exists only within this process, which has one model, so it needs no
            // fingerprint.
            parts.with(SharedCache::new(paged(pages), 0, hash_page))
        }
        Some(pages) => parts.with(paged(pages)),
    })
}

impl<C: Paging> Week3<C> {
    /// Returns the bytes of keys and values: used, reserved and in total.
    fn cache_bytes(&self, pages: Option<PageCounts>) -> CacheBytes {
        let running = self.engine.running();
        let computed: usize = running.iter().map(|sequence| sequence.num_computed).sum();
        let positions = |n: usize| n as u64 * self.position_bytes;
        let used = positions(computed);
        match pages {
            Some(PageCounts { pages, page_len, used: taken, .. }) => CacheBytes {
                used,
                held: positions(taken * page_len),
                all: positions(pages * page_len),
            },
            None => {
                let shape = self.engine.cache().shape();
                let all = positions(shape.sequences * shape.capacity);
                CacheBytes { used, held: all, all }
            }
        }
    }

    fn pages(&self) -> Option<PageCounts> {
        page_counts(&self.engine, self.most_used)
    }
}

/// Runs the learner's scheduler on two requests, to find out whether it is written.
fn schedule() {
    let load = |decoding| Load { left: 1, decoding, waited: 0 };
    Scheduler::new(2).shares(&[load(true), load(false)], &mut Vec::new());
}

/// Runs the learner's recorder on one token, to find out whether it is written.
fn record() {
    let mut record = Record::new(Moment::default());
    record.token(Moment { steps: 1, rows: 1 });
    let _ = (record.time_to_first_token(), quantile(&mut [1], 0.5));
}

/// Returns the size of a cache in bytes.
fn cache_bytes(
    c: &ModelConfig,
    sequences: usize,
    context: usize,
    kind: CacheType,
) -> Option<usize> {
    [c.n_layers, c.n_kv_heads, kind.row_bytes(c.head_dim), context, sequences]
        .into_iter()
        .try_fold(2usize, usize::checked_mul)
}

impl<C: Paging> Batch for Week3<C> {
    fn submit(&mut self, request: Request, form: Option<&Form>, extras: Extras) -> Result<u64> {
        let constraint = form.map(|form| self.forms.constraint(form)).transpose()?;
        self.engine.submit_with(request, constraint, extras)
    }

    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        self.forms.use_vocabulary(texts);
    }

    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        self.engine.step(on_event);
        self.most_used = self.pages().map_or(0, |pages| pages.used.max(pages.most_used));
        Ok(())
    }

    fn cancel(&mut self, id: u64) -> bool {
        self.engine.cancel(id)
    }

    fn waiting(&self) -> usize {
        self.engine.num_waiting()
    }

    fn take_chosen(&mut self) -> Vec<(u64, Chosen)> {
        self.engine.take_chosen()
    }

    fn take_found(&mut self) -> Vec<(u64, usize)> {
        self.engine.take_found()
    }

    fn page_map(&self) -> Vec<PageUse> {
        let Some(pages) = self.engine.cache().pages() else { return Vec::new() };
        let pool = pages.pool();
        let of = |i| if pool.num_owners_of(i) == 0 { PageUse::Free } else { PageUse::Remembered };
        let mut map: Vec<PageUse> = (0..pool.num_pages()).map(of).collect();
        for row in self.rows() {
            for page in pages.table(row.slot) {
                let shared = pool.num_owners(page) > 1;
                let use_of = &mut map[page.index()];
                if !matches!(use_of, PageUse::Owned { .. }) {
                    *use_of = PageUse::Owned { slot: row.slot, shared };
                }
            }
        }
        map
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
        let pages = self.pages();
        let drafted = self.engine.drafted();
        BatchCounts {
            steps: counts.steps,
            rows: counts.rows,
            pages,
            cache: self.cache_bytes(pages),
            drafts: self.drafts.then_some((drafted.accepted, drafted.drafted)),
        }
    }

    fn waits(&mut self) -> Option<BatchWaits> {
        let records = self.engine.take_records();
        self.records.extend(records.into_iter().map(|(_, record)| record));
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
