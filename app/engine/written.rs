//! Detects which parts of week 2 are written. The engine uses those parts, and names the open
//! (unwritten) tasks once.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicUsize, Ordering},
};

use tiny_llm::{
    week2::{
        attention::attend,
        cache::{CacheShape, CacheType, Cells, DenseCache, Run},
        input::{Input, SUPER_BLOCK},
        kernels::{self, Choice, Rung, matmul},
        matrix::Matrix,
        parallel::{Grid, Team, take_tiles},
        plan::{AttentionKind, Plan},
        rows::{Queries, Row},
        streaming::{OnlineSoftmax, Query, attend_block, attend_streaming},
    },
    week3::in_parts::InParts,
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::choice::{Next, Status};

/// The numbers of activation rows with which kernels are probed: 1, and the smallest for which the
/// kernels for prompts are used.
const ROWS: [usize; 2] = [1, 4];

/// The parts of the learner's engine that are written, and the open tasks.
pub(crate) struct Written {
    pub(crate) kernels: Choice,
    next: Vec<Next>,
    /// The open task of streaming attention, if there is one.
    pub(crate) attention: Option<String>,
    /// The open task of the thread pool, if there is one.
    pub(crate) threads: Option<String>,
}

impl Written {
    /// Runs each part on a few numbers, to find out whether it reaches an open task.
    pub(crate) fn probe() -> Self {
        quietly(|| {
            let (kernels, next) = Choice::written_first(status);
            Self { kernels, next, attention: missing(stream), threads: missing(share) }
        })
    }

    /// Returns the tasks in which the learner writes the next kernels for matrices of the given
    /// types.
    pub(crate) fn open_kernels(&self, types: &[TensorType]) -> impl Iterator<Item = &str> {
        let used = self.next.iter().filter(|next| types.contains(&next.tensor_type));
        used.map(|next| next.task.as_str())
    }
}

/// Returns whether all code that `run` reaches is written.
pub(crate) fn is_written(run: impl FnOnce()) -> bool {
    quietly(|| missing(run)).is_none()
}

/// Returns the result of `run`, whose panics print nothing.
fn quietly<T>(run: impl FnOnce() -> T) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let result = run();
    panic::set_hook(hook);
    result
}

/// Returns the status of the kernel for matrices of a type on a rung (one set of kernels).
fn status(rung: Rung, tensor_type: TensorType) -> Status {
    if !ROWS.iter().any(|&rows| kernels::is_written(rung, tensor_type, rows)) {
        return Status::Provided;
    }
    // Day 5 provides the products of Q8_0 and Q5_0. They are used once the learner has written the
    // product of Q4_0.
    let given = matches!(tensor_type, TensorType::Q8_0 | TensorType::Q5_0);
    let tried = match rung {
        Rung::Fused | Rung::Integer if given => TensorType::Q4_0,
        _ => tensor_type,
    };
    missing(|| multiply(rung, tried)).map_or(Status::Written, Status::Missing)
}

/// Returns the open task that `run` reaches, such as `week2-day6 task 1`. A body that panics in
/// another way counts as written, and will report its own error.
fn missing(run: impl FnOnce()) -> Option<String> {
    let panic = panic::catch_unwind(AssertUnwindSafe(run)).err()?;
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or(panic.downcast_ref::<&str>().copied())?;
    let task = message.strip_prefix("not yet implemented: ")?;
    let (task, _function) = task.rsplit_once(": ")?;
    (task.starts_with("week") && task.contains(" task ")).then(|| task.to_owned())
}

/// Multiplies a matrix of zeros by activations, once for each number of activation rows in [`ROWS`]
/// for which the learner writes the kernel.
fn multiply(rung: Rung, tensor_type: TensorType) {
    let bytes = vec![0; tensor_type.row_bytes(SUPER_BLOCK).expect("whole blocks")];
    let weight =
        Matrix::new(1, SUPER_BLOCK, tensor_type, bytes.into()).expect("a row of whole blocks");
    let team = Team::new(1);
    for rows in ROWS.into_iter().filter(|&rows| kernels::is_written(rung, tensor_type, rows)) {
        let mut x = Input::default();
        x.resize(rows, SUPER_BLOCK);
        let x = if rung.wants_int8() {
            kernels::quantize(rung, &team, &mut x, SUPER_BLOCK)
        } else {
            x.without_int8()
        };
        matmul(rung, &team, &weight, x, &mut vec![0.0; rows]);
    }
}

/// Claims the two tiles of a small matrix product, as a thread of the pool does.
fn share() {
    let taken = AtomicUsize::new(0);
    take_tiles(&AtomicUsize::new(0), &Grid { rows: 1, width: 2, tile: (1, 1) }, |_| {
        assert!(taken.fetch_add(1, Ordering::Relaxed) < 64, "tiles without end");
    });
}

/// Computes streaming attention from a query to one position, for the query alone and in a block.
fn stream() {
    let numbers = [0.0; 16];
    let run = Run { start: 0, len: 1, keys: Cells::F32(&numbers), values: Cells::F32(&numbers) };
    let mut out = [0.0; 16];
    OnlineSoftmax::default().absorb(&mut [0.0]);
    attend_streaming(&numbers, std::iter::once(run), 16, 1.0, &mut out);
    attend_block(&[Query { q: &numbers, visible: 0..1 }], std::iter::once(run), 16, 1.0, &mut out);
}

/// Returns the first open task of week 3's attention in parts, if any.
pub(crate) fn open_task_of_parts() -> Option<String> {
    quietly(|| missing(attend_in_parts))
}

/// Computes attention in parts from one row to one position.
fn attend_in_parts() {
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 32, head_dim: 16 };
    let cache = InParts::new(DenseCache::new(shape, CacheType::F32));
    let rows = [Row { token: 0, position: 0, sequence: 0, logits: false }];
    let queries = Queries { rows: &rows, q: &[0.0; 16], group: 1, head_dim: 16 };
    let (kernels, attention) = (Rung::Naive.into(), AttentionKind::Streaming);
    let plan = Plan { kernels, attention, team: Team::new(1) };
    attend(&plan, &cache, 0, queries, &mut [0.0; 16]);
}

/// Describes which kernels multiply matrices of these types, and which of them the learner wrote.
pub(crate) fn described(choice: &Choice, types: &[TensorType]) -> String {
    let mut rungs: Vec<(Rung, Vec<TensorType>)> = Vec::new();
    for &tensor_type in types {
        let rung = kernels::serving(choice.rung(tensor_type), tensor_type, ROWS[0]);
        match rungs.iter_mut().find(|(other, _)| *other == rung) {
            Some((_, types)) => types.push(tensor_type),
            None => rungs.push((rung, vec![tensor_type])),
        }
    }
    let several = rungs.len() > 1;
    let one = |(rung, types): &(Rung, Vec<TensorType>)| {
        let of = if several { format!(" for {}", listed(types)) } else { String::new() };
        let whose = if cfg!(feature = "reference") { String::new() } else { whose(*rung, types) };
        format!("{rung} kernels{of}{whose}")
    };
    let described = rungs.iter().map(one).collect::<Vec<_>>().join(", ");
    match Rung::Amx.refused() {
        Some(why) if rungs.iter().any(|(rung, _)| *rung == Rung::Amx.below()) => {
            format!("{described} (no {}: {why})", Rung::Amx)
        }
        _ => described,
    }
}

/// Lists in parentheses which of a rung's kernels for the given types the learner wrote.
fn whose(rung: Rung, types: &[TensorType]) -> String {
    let yours = |rows: usize| {
        move |&&tensor_type: &&TensorType| kernels::is_written(rung, tensor_type, rows)
    };
    let (decode, rest): (Vec<_>, Vec<_>) = types.iter().partition(yours(ROWS[0]));
    let prompts = decode.iter().all(|tensor_type| yours(ROWS[1])(&tensor_type));
    match (decode.is_empty(), rest.is_empty(), prompts) {
        (true, ..) => " (provided)".to_owned(),
        (false, true, true) => " (yours)".to_owned(),
        (false, true, false) => " (yours for decode, provided for prefill)".to_owned(),
        (false, false, true) => format!(" (yours for {}, otherwise provided)", listed(&decode)),
        (false, false, false) => {
            format!(" (yours for decode with {}, otherwise provided)", listed(&decode))
        }
    }
}

fn listed(types: &[TensorType]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}
