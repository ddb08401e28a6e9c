//! Week 3's engine: many requests at once.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result, anyhow};
use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        kernels::vector::TILE,
        plan::{AttentionKind, Plan},
    },
    week3::{
        ahead::{Ahead, Pricing},
        engine::{Engine, EngineOptions},
        paged::PagedCache,
        parts::InParts,
        prefix_hash::hash_page,
        propose::{LookupProposer, ModelProposer, Proposer},
        request::Sequence,
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
    finite::explained,
    forms::Forms,
    model::{AnyPass, Loaded},
    written::{is_written, open_task_of_parts},
};

/// Rows a step, where nobody says otherwise: as many as the kernels for prompts like to have.
const BUDGET: usize = 512;
/// Positions of a page: as few as a page can hold, so that the least is left over.
const PAGE_LEN: usize = TILE;

/// Requests and the model that answers them.
pub(crate) struct Week3 {
    engine: AnyEngine,
    path: PathBuf,
    /// The most pages in use after any step.
    most_used: usize,
    /// Bytes of keys and values of a position.
    position_bytes: u64,
    drafts: bool,
    /// Of the requests that are over.
    records: Vec<Record>,
    forms: Forms,
}

/// An engine, and where its keys and values lie.
enum AnyEngine {
    /// In one piece for each place.
    Dense(Engine<DenseCache, AnyPass>),
    /// In pages.
    Paged(Engine<PagedCache, AnyPass>),
    /// In one piece for each place, read in parts.
    DenseInParts(Engine<InParts<DenseCache>, AnyPass>),
    /// In pages, read in parts.
    PagedInParts(Engine<InParts<PagedCache>, AnyPass>),
    /// In pages that are remembered.
    Shared(Engine<SharedCache, AnyPass>),
    /// In pages that are remembered, read in parts.
    SharedInParts(Engine<InParts<SharedCache>, AnyPass>),
}

/// The same of either engine.
macro_rules! of_any {
    ($engine:expr, $name:ident => $value:expr) => {
        match $engine {
            AnyEngine::Dense($name) => $value,
            AnyEngine::Paged($name) => $value,
            AnyEngine::DenseInParts($name) => $value,
            AnyEngine::PagedInParts($name) => $value,
            AnyEngine::Shared($name) => $value,
            AnyEngine::SharedInParts($name) => $value,
        }
    };
}

impl AnyEngine {
    /// The same with drafts, if somebody proposes them.
    fn with_drafts(self, ahead: Option<Ahead>) -> Self {
        let Some(ahead) = ahead else { return self };
        match self {
            Self::Dense(engine) => Self::Dense(engine.with_drafts(ahead)),
            Self::Paged(engine) => Self::Paged(engine.with_drafts(ahead)),
            Self::DenseInParts(engine) => Self::DenseInParts(engine.with_drafts(ahead)),
            Self::PagedInParts(engine) => Self::PagedInParts(engine.with_drafts(ahead)),
            Self::Shared(engine) => Self::Shared(engine.with_drafts(ahead)),
            Self::SharedInParts(engine) => Self::SharedInParts(engine.with_drafts(ahead)),
        }
    }
}

/// Who proposes tokens for so many places.
fn proposer(
    draft: &Draft,
    config: &ModelConfig,
    plan: &Arc<Plan>,
    (places, cache_type): (usize, CacheType),
) -> Result<Box<dyn Proposer>> {
    Ok(match draft {
        Draft::Lookup => Box::new(LookupProposer { longest: drafts::LONGEST }),
        Draft::Model(path) => {
            let context = config.max_positions;
            let smaller = Arc::new(drafts::open(path, context)?);
            let (plan, vocabulary) = (drafts::plan_for(&smaller, plan), config.vocab_size);
            let proposer =
                ModelProposer::new(smaller, plan, (places, context), cache_type, vocabulary);
            Box::new(proposer.with_context(|| path.display().to_string())?)
        }
    })
}

impl Week3 {
    /// Of a model that another engine has loaded.
    pub(crate) fn new(
        loaded: Loaded,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Self> {
        let Loaded { model, mut plan, cache_type, path } = loaded;
        let config = model.config();
        // A row is multiplied the same way in any company, by kernels that are provided where those
        // of week 2 have an order of their own for few rows.
        let own = Arc::get_mut(&mut plan).expect("nobody else has the plan");
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
                    "there is no room for the keys and values of {pages} pages of {PAGE_LEN} positions; ask for fewer --pages"
                ),
                None => anyhow!(
                    "there is no room for the keys and values of {sequences} sequences of {context} tokens; ask for a smaller --max-batch or --context, or for --pages"
                ),
            });
        }
        let position_bytes = cache_bytes(config, 1, 1, cache_type).unwrap_or(0) as u64;
        let shape = shape(config, options.max_batch, context);
        let ahead = options.draft.as_ref().map(|draft| {
            let proposer = proposer(draft, config, &plan, (options.max_batch, cache_type))?;
            let limits = (drafts::MOST, Pricing::Measured);
            anyhow::Ok(Ahead::new(proposer, options.max_batch, limits))
        });
        let ahead = ahead.transpose()?;
        // What day 2 has not written is left out.
        let budget = match options.budget {
            Some(rows) => Some(rows).filter(|&rows| rows > 0),
            None => is_written(schedule).then_some(BUDGET),
        };
        let gap = Some(options.gap).filter(|&gap| gap > 0 && is_written(schedule));
        let records = is_written(record);
        let others = EngineOptions { budget, gap, records, ..Default::default() };
        // In parts as soon as that is written: then answers do not depend on the company.
        let in_parts = plan.attention == AttentionKind::Streaming && open_task_of_parts().is_none();
        let pass = model.pass(Arc::clone(&plan));
        let engine = match options.pages {
            None => {
                let cache = DenseCache::new(shape, cache_type);
                if in_parts {
                    let cache = InParts::new(cache);
                    AnyEngine::DenseInParts(Engine::with_pass(pass, cache, others, token_bytes))
                } else {
                    AnyEngine::Dense(Engine::with_pass(pass, cache, others, token_bytes))
                }
            }
            Some(pages) => {
                let cache = PagedCache::new(shape, PAGE_LEN, pages, cache_type);
                if options.share_prefixes {
                    let how = format!("{:?} {}", plan.kernels, plan.attention);
                    let cache = SharedCache::new(cache, model.fingerprint(&how), hash_page);
                    if in_parts {
                        let cache = InParts::new(cache);
                        AnyEngine::SharedInParts(Engine::with_pass(
                            pass,
                            cache,
                            others,
                            token_bytes,
                        ))
                    } else {
                        AnyEngine::Shared(Engine::with_pass(pass, cache, others, token_bytes))
                    }
                } else if in_parts {
                    let cache = InParts::new(cache);
                    AnyEngine::PagedInParts(Engine::with_pass(pass, cache, others, token_bytes))
                } else {
                    AnyEngine::Paged(Engine::with_pass(pass, cache, others, token_bytes))
                }
            }
        };
        let drafts = ahead.is_some();
        let engine = engine.with_drafts(ahead);
        let forms = Forms::default();
        let (most_used, records) = (0, Vec::new());
        Ok(Self { engine, path, most_used, position_bytes, drafts, records, forms })
    }

    /// What keys and values take.
    fn cache_bytes(&self, pages: Option<PageCounts>) -> CacheBytes {
        let running = of_any!(&self.engine, engine => engine.running());
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
                let shape = of_any!(&self.engine, engine => engine.cache().shape());
                let all = positions(shape.sequences * shape.capacity);
                CacheBytes { used, held: all, all }
            }
        }
    }

    /// The pages, if there are any.
    fn paged(&self) -> Option<&PagedCache> {
        Some(match &self.engine {
            AnyEngine::Paged(engine) => engine.cache(),
            AnyEngine::PagedInParts(engine) => engine.cache().inner(),
            AnyEngine::Shared(engine) => engine.cache().pages(),
            AnyEngine::SharedInParts(engine) => engine.cache().inner().pages(),
            AnyEngine::Dense(_) | AnyEngine::DenseInParts(_) => return None,
        })
    }

    /// Who has which pages, if there are pages.
    fn pages(&self) -> Option<PageCounts> {
        let pool = self.paged()?.pool();
        let index = match &self.engine {
            AnyEngine::Shared(engine) => Some(engine.cache().index()),
            AnyEngine::SharedInParts(engine) => Some(engine.cache().inner().index()),
            _ => None,
        };
        let found = index.map(|index| (index.counts().found, index.counts().asked));
        Some(PageCounts {
            found,
            pages: pool.num_pages(),
            page_len: PAGE_LEN,
            used: pool.num_pages() - pool.num_free(),
            most_used: self.most_used,
            preempted: of_any!(&self.engine, engine => engine.counts()).preempted,
        })
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

fn shape(c: &ModelConfig, sequences: usize, capacity: usize) -> CacheShape {
    CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity,
        head_dim: c.head_dim,
    }
}

/// What a cache takes.
fn cache_bytes(
    c: &ModelConfig,
    sequences: usize,
    context: usize,
    kind: CacheType,
) -> Option<usize> {
    let size = match kind {
        CacheType::F32 => 4,
        CacheType::F16 => 2,
    };
    [c.n_layers, c.n_kv_heads, c.head_dim, context, sequences, size]
        .into_iter()
        .try_fold(2usize, usize::checked_mul)
}

impl Batch for Week3 {
    fn submit(&mut self, request: Request, form: Option<&Form>, extras: Extras) -> Result<u64> {
        let constraint = form.map(|form| self.forms.constraint(form)).transpose()?;
        of_any!(&mut self.engine, engine => engine.submit_with(request, constraint, extras))
    }

    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>) {
        self.forms.use_vocabulary(texts);
    }

    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        of_any!(&mut self.engine, engine => engine.step(on_event));
        self.most_used = self.pages().map_or(0, |pages| pages.used.max(pages.most_used));
        if of_any!(&self.engine, engine => engine.is_broken()) {
            Err(explained(&self.path))
        } else {
            Ok(())
        }
    }

    fn cancel(&mut self, id: u64) -> bool {
        of_any!(&mut self.engine, engine => engine.cancel(id))
    }

    fn waiting(&self) -> usize {
        of_any!(&self.engine, engine => engine.num_waiting())
    }

    fn take_chosen(&mut self) -> Vec<(u64, Chosen)> {
        of_any!(&mut self.engine, engine => engine.take_chosen())
    }

    fn page_map(&self) -> Vec<PageUse> {
        let Some(pages) = self.paged() else { return Vec::new() };
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
        let running = of_any!(&self.engine, engine => engine.running()).iter();
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
        let counts = of_any!(&self.engine, engine => engine.counts());
        let pages = self.pages();
        let drafted = of_any!(&self.engine, engine => engine.drafted());
        BatchCounts {
            steps: counts.steps,
            rows: counts.rows,
            pages,
            cache: self.cache_bytes(pages),
            drafts: self.drafts.then_some((drafted.accepted, drafted.drafted)),
        }
    }

    fn waits(&mut self) -> Option<BatchWaits> {
        let records = of_any!(&mut self.engine, engine => engine.take_records());
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
