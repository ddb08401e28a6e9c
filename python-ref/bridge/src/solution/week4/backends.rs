//! Day 4: the CPU as a backend, weights in a backend's memory, and graphs on several backends.

use tiny_llm_formats::bytes::Bytes;

use super::rust::{
    backend::{Backend, BufferId, Place},
    cpu, cut,
    graph::{Graph, NodeId},
    placement, scheduler, split,
    step::AnyStep,
    twin::Twin,
    weights,
};
use crate::prelude::*;

exports! { class Cpu, Weights; }

fn refused(fault: impl Into<anyhow::Error>) -> PyErr {
    value_error(fault.into())
}

/// The CPU backend with its buffers.
#[pyclass(frozen)]
pub(crate) struct Cpu(Kept<cpu::Cpu>);

#[pymethods]
impl Cpu {
    #[new]
    fn new() -> Self {
        Self(Kept::new(cpu::Cpu::default()))
    }

    /// Allocates a buffer and returns its number.
    fn allocate(&self, bytes: Count) -> PyResult<usize> {
        room("the buffer", &[bytes.0])?;
        let buffer = self.0.call(move |cpu| cpu.allocate(bytes.0))?;
        buffer.map(|id| id.0).map_err(refused)
    }

    /// Releases a buffer.
    fn release(&self, buffer: Count) -> PyResult<()> {
        self.0.call(move |cpu| cpu.release(BufferId(buffer.0)))?.map_err(refused)
    }

    /// Writes bytes to a buffer, from `offset` on.
    fn upload(&self, buffer: Count, offset: Count, bytes: Octets) -> PyResult<()> {
        let (buffer, offset, bytes) = (BufferId(buffer.0), offset.0, bytes.0);
        let place = Place { buffer, offset, bytes: bytes.len() };
        self.0.call(move |cpu| cpu.upload(place, &bytes))?.map_err(refused)
    }

    /// Returns `bytes` bytes of a buffer, from `offset` on.
    fn download(&self, buffer: Count, offset: Count, bytes: Count) -> PyResult<Vec<u8>> {
        room("the bytes", &[bytes.0])?;
        let place = Place { buffer: BufferId(buffer.0), offset: offset.0, bytes: bytes.0 };
        let found = self.0.call(move |cpu| {
            let mut found = vec![0; place.bytes];
            cpu.download(place, &mut found).map(|()| found)
        })?;
        found.map_err(refused)
    }
}

/// The weights of one file in the memory of a twin, which is a second backend.
#[pyclass(frozen)]
pub(crate) struct Weights(Kept<(weights::Weights, Twin, Bytes)>);

#[pymethods]
impl Weights {
    #[new]
    fn new(file: Octets, reads_host: bool, alignment: Count) -> PyResult<Self> {
        at_least_one("alignment", alignment.0)?;
        let twin = Twin::default().with_alignment(alignment.0);
        let twin = if reads_host { twin.with_host_pointers() } else { twin };
        Ok(Self(Kept::new((weights::Weights::default(), twin, Bytes::from(file.0)))))
    }

    /// Places the weight that occupies `bytes` bytes of the file from `start` on. Returns the
    /// weight's offset in its buffer, its bytes in that buffer, and how many bytes of all weights
    /// so far are used in place and how many were copied.
    fn place(&self, start: Count, bytes: Count) -> PyResult<(usize, Vec<u8>, usize, usize)> {
        let found = self.0.call(move |(weights, twin, file)| {
            let end = start.0.saturating_add(bytes.0);
            let place = weights.place(twin, &file.slice(start.0..end)?)?;
            let mut there = vec![0; place.bytes];
            twin.download(place, &mut there)?;
            anyhow::Ok((place.offset, there, weights.in_place, weights.copied))
        })?;
        found.map_err(refused)
    }
}

/// The backend of each node of a graph. A node without a backend has `None`.
pub(crate) type Backends = Vec<Option<usize>>;

/// Returns the pinned nodes' backends, where backend `b` lacks the operations `lacks[b]`.
pub(crate) fn pinned(
    graph: &Graph,
    result: NodeId,
    lacks: &[Vec<String>],
) -> anyhow::Result<Backends> {
    let twin =
        |lacks: &Vec<String>| Twin::without(&lacks.iter().map(String::as_str).collect::<Vec<_>>());
    let twins: Vec<Twin> = lacks.iter().map(twin).collect();
    let all: Vec<&dyn Backend> = twins.iter().map(|twin| twin as &dyn Backend).collect();
    placement::pin(graph, &graph.order(&[result]), &all, &placement::Wishes::default())
}

/// Returns the placement on two backends with the fewest copies. Pinned nodes stay where they are.
pub(crate) fn fewest_copies(graph: &Graph, result: NodeId, pinned: &[Option<usize>]) -> Backends {
    cut::fewest_copies(graph, &graph.order(&[result]), pinned)
}

/// Checks that each node has an entry, and that each backend is below `most`.
///
/// # Errors
/// If the number of entries is wrong, or a backend is out of range.
pub(crate) fn checked(given: &[Option<usize>], nodes: usize, most: usize) -> PyResult<()> {
    refuse_if!(given.len() != nodes; "backends", format_args!("{} of them", given.len());
        "{nodes}, one for each node");
    match given.iter().flatten().find(|&&b| b >= most) {
        Some(b) => Err(wrong("backend", b, format_args!("one below {most}"))),
        None => Ok(()),
    }
}

/// For each split: its backend, number of copies and number of nodes.
pub(crate) type Splits = Vec<(usize, usize, usize)>;

/// Computes `result` on [`Twin`]s, with the placement `placed`. Returns its value and the splits.
pub(crate) fn on_twins(
    graph: &Graph,
    result: NodeId,
    placed: &[Option<usize>],
    pass: impl FnOnce(&mut dyn FnMut(&mut AnyStep<'_>)),
) -> anyhow::Result<(Floats, Splits)> {
    let order = graph.order(&[result]);
    for &id in &order {
        let op = &graph.node(id).op;
        let has_none = op.is_leaf() || op.is_view();
        anyhow::ensure!(
            has_none == placed[id.index()].is_none(),
            "{}: expected a backend for each node that is neither leaf nor view",
            graph.told(id)
        );
    }
    anyhow::ensure!(
        placed[graph.root(result).index()].is_some(),
        "node: found a leaf, expected one that is computed"
    );
    let schedule = split::Schedule::new(graph, &order, placed, &[result])?;
    let splits = schedule.splits.iter();
    let splits = splits.map(|s| (s.backend, s.copies.len(), s.nodes.len())).collect();
    let n = placed.iter().flatten().max().map_or(1, |b| b + 1);
    let twins = (0..n).map(|_| Box::new(Twin::default()) as Box<dyn Backend>);
    let mut scheduler = scheduler::Scheduler::new(twins.collect());
    let ready = scheduler.load(schedule)?;
    let mut done = Ok(());
    pass(&mut |step| done = scheduler.run(&ready, step));
    done?;
    let layout = graph.layout(result);
    let mut found = vec![0.0; layout.elements()];
    scheduler.read(&ready, 0, &mut found)?;
    let shape: Vec<usize> = layout.ne.iter().rev().copied().collect();
    Ok((Floats(tensor(&shape, found)), splits))
}
