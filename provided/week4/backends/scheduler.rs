//! Day 4. Runs a graph on several backends: places its nodes, splits it, plans each backend's
//! memory, and computes split by split.

use std::fmt;

use anyhow::{Result, anyhow, bail};

use crate::week4::{
    backend::{Backend, BufferId, Failed, Fault, Place, Work},
    checked::check_size,
    cut::fewest_copies,
    graph::{Graph, NodeId},
    lifetimes::{ALIGNMENT, Lifetime, lifetimes},
    op::Op,
    placement::{Wishes, pin},
    planner::MemoryPlan,
    split::{Schedule, Split},
    step::AnyStep,
    weights::Weights,
};

/// Runs graphs on backends, and keeps the weights in their memory. The preferred backend is first.
#[derive(Default)]
pub struct Scheduler {
    backends: Vec<(Box<dyn Backend>, Weights)>,
    /// Buffer for bytes that are copied from one backend's memory to another's.
    staging: Vec<u8>,
    traffic: Traffic,
}

/// Counters of splits and of copies between backends, since the scheduler was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of splits that were computed.
    pub splits: usize,
    /// Number of results that were copied between backends.
    pub copies: usize,
    /// Number of bytes in these copies.
    pub copied_bytes: usize,
}

/// A graph that is ready to run.
#[derive(Debug)]
pub struct Ready {
    /// The graph with its copies, and which backend computes each node.
    pub schedule: Schedule,
    /// For each backend, the place of each node in its memory.
    places: Vec<Vec<Option<Place>>>,
    /// For each backend, the buffers that belong to this graph alone.
    buffers: Vec<Vec<BufferId>>,
    /// For each backend, the size of its arena in bytes.
    pub arenas: Vec<usize>,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Scheduler {
    /// Creates a scheduler for these backends, the preferred one first.
    #[must_use]
    pub fn new(backends: Vec<Box<dyn Backend>>) -> Self {
        let backends = backends.into_iter().map(|one| (one, Weights::default())).collect();
        Self { backends, ..Self::default() }
    }

    /// Returns the backends' names, the preferred one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.backends.iter().map(|(backend, _)| backend.name())
    }

    /// For each backend, returns the model's weights in its memory.
    pub fn weights(&self) -> impl Iterator<Item = &Weights> {
        self.backends.iter().map(|(_, weights)| weights)
    }

    /// Returns the counters of splits and of copies between backends.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Decides which backend computes each node of a graph, and which results must be copied.
    ///
    /// # Errors
    /// The same as for [`pin`]. Also if the number of backends isn't one or two.
    pub fn schedule(
        &self,
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        wishes: &Wishes,
    ) -> Result<Schedule> {
        let backends: Vec<&dyn Backend> = self.backends.iter().map(|(one, _)| &**one).collect();
        let pinned = pin(graph, order, &backends, wishes)?;
        let placed = match backends.len() {
            1 => everything(graph, order),
            2 => fewest_copies(graph, order, &pinned),
            n => bail!("found {n} backends, expected 1 or 2"),
        };
        Schedule::new(graph, order, &placed, results)
    }

    /// Schedules a graph. Loads the graph's weights and values into the memory of the backends that
    /// read them, and allocates a place for every node that is computed.
    ///
    /// # Errors
    /// The same as for [`Scheduler::schedule`]. Also if a backend's memory is too small. Everything
    /// that was allocated for this graph alone is then released. The weights stay in memory.
    pub fn prepare(
        &mut self,
        graph: &Graph,
        order: &[NodeId],
        results: &[NodeId],
        wishes: &Wishes,
    ) -> Result<Ready> {
        self.load(self.schedule(graph, order, results, wishes)?)
    }

    /// Like [`Scheduler::prepare`], for an existing schedule.
    ///
    /// # Errors
    /// The same as for [`Scheduler::prepare`].
    pub fn load(&mut self, schedule: Schedule) -> Result<Ready> {
        let (nodes, n) = (schedule.graph.len(), self.backends.len());
        let mut ready = Ready {
            schedule,
            places: vec![vec![None; nodes]; n],
            buffers: vec![Vec::new(); n],
            arenas: vec![0; n],
        };
        match self.fill(&mut ready) {
            Ok(()) => Ok(ready),
            Err(error) => {
                self.release(ready);
                Err(error)
            }
        }
    }

    /// Allocates a graph's memory on each backend, and uploads its weights and values.
    fn fill(&mut self, ready: &mut Ready) -> Result<()> {
        let Ready { schedule, places, buffers, arenas } = ready;
        let order = schedule.order();
        check_size(&schedule.graph, &order)?;
        let lives = lifetimes(&schedule.graph, &order, &schedule.results);
        let all = self.backends.iter_mut().zip(places).zip(buffers).zip(arenas).enumerate();
        for (b, ((((backend, weights), places), buffers), arena)) in all {
            let name = backend.name().to_owned();
            let (graph, splits) = (&schedule.graph, &schedule.splits);
            let mut numbers = Vec::new();
            for &id in splits.iter().filter(|split| split.backend == b).flat_map(|s| &s.nodes) {
                for &source in &graph.node(id).sources {
                    let root = graph.root(source);
                    let failed = |fault: Fault| anyhow!(Failed::at(id, fault).told(&name, graph));
                    match &graph.node(root).op {
                        Op::Weight(matrix) => {
                            let place = weights.place(&mut **backend, matrix.shared_bytes());
                            places[root.index()] = Some(place.map_err(failed)?);
                        }
                        Op::Values(_) if !numbers.contains(&root) => numbers.push(root),
                        _ => {}
                    }
                }
            }
            put_numbers(&mut **backend, graph, &numbers, places, buffers).map_err(|fault| {
                let first = numbers.first().map(|&id| graph.told(id)).unwrap_or_default();
                anyhow!(
                    "{name}: cannot store norms, biases and other numbers (first: {first}): {fault}"
                )
            })?;
            let unit = backend.alignment().max(ALIGNMENT);
            let aligned =
                |life: &Lifetime| Lifetime { bytes: life.bytes.next_multiple_of(unit), ..*life };
            let own = lives.iter().filter(|life| is_at(schedule, life.node, b));
            let own: Vec<_> = own.map(aligned).collect();
            let in_place = backend.works_in_place();
            let plan = MemoryPlan::smaller_of_some(graph, &order, &own, in_place)?;
            *arena = plan.peak;
            if plan.peak == 0 {
                continue;
            }
            let largest = own.iter().max_by_key(|life| life.bytes).expect("there is an arena");
            let buffer = backend.allocate(plan.peak).map_err(|fault| {
                anyhow!(
                    "{name}: cannot allocate an arena of {} bytes (largest node: {}): {fault}",
                    plan.peak,
                    graph.told(largest.node)
                )
            })?;
            buffers.push(buffer);
            for life in &own {
                let part = plan.parts[life.node.index()].clone().expect("it has been planned");
                let place = Place { buffer, offset: part.start, bytes: part.len() };
                places[life.node.index()] = Some(place);
            }
        }
        Ok(())
    }

    /// Computes a graph, split by split.
    ///
    /// # Errors
    /// If a device fails. The message is one line that names the backend. It also names the node,
    /// its operation and its sources, if the backend knows which node failed.
    pub fn run(&mut self, ready: &Ready, step: &mut AnyStep<'_>) -> Result<()> {
        let Schedule { graph, splits, owners, .. } = &ready.schedule;
        for Split { backend: to, copies, nodes } in splits {
            for &copy in copies {
                let source = graph.node(copy).sources[0];
                let from = owners[source.index()].expect("what is copied has been computed");
                self.copy(ready, (from, source), (*to, copy)).map_err(|(b, fault)| {
                    anyhow!(Failed::at(copy, fault).told(self.backends[b].0.name(), graph))
                })?;
            }
            let (backend, _) = &mut self.backends[*to];
            let work = Work { graph, nodes, places: &ready.places[*to] };
            backend
                .compute(&work, step)
                .map_err(|failed| anyhow!(failed.told(backend.name(), graph)))?;
            self.traffic.splits += 1;
        }
        Ok(())
    }

    /// Copies the values of the node `source` on backend `from` to the node `copy` on backend `to`.
    /// An error includes the index of the backend that failed.
    fn copy(
        &mut self,
        ready: &Ready,
        (from, source): (usize, NodeId),
        (to, copy): (usize, NodeId),
    ) -> Result<(), (usize, Fault)> {
        let bytes = 4 * ready.schedule.graph.layout(copy).elements();
        let place = |b: usize, id: NodeId| {
            let place = ready.places[b][id.index()];
            let place = place.ok_or_else(|| Fault::NoPlace(ready.schedule.graph.told(id)));
            Ok(Place { bytes, ..place.map_err(|fault| (b, fault))? })
        };
        let (there, here) = (place(from, source)?, place(to, copy)?);
        self.staging.resize(bytes.max(self.staging.len()), 0);
        let staging = &mut self.staging[..bytes];
        self.backends[from].0.download(there, staging).map_err(|fault| (from, fault))?;
        self.backends[to].0.upload(here, staging).map_err(|fault| (to, fault))?;
        self.traffic.copies += 1;
        self.traffic.copied_bytes += bytes;
        Ok(())
    }

    /// Copies a result of the graph to `out`, which has the same number of elements. `result` is
    /// its index in the list of results.
    ///
    /// # Errors
    /// If earlier work has failed on the result's backend. Also if the result is a leaf.
    pub fn read(&mut self, ready: &Ready, result: usize, out: &mut [f32]) -> Result<()> {
        let Schedule { graph, results, owners, .. } = &ready.schedule;
        let root = graph.root(results[result]);
        let Some(owner) = owners[root.index()] else {
            return Err(anyhow!(
                "{}: found a leaf as a result, expected a node that is computed",
                graph.told(root)
            ));
        };
        let (backend, _) = &mut self.backends[owner];
        let place = ready.places[owner][root.index()].expect("results are computed");
        let place = Place { bytes: 4 * out.len(), ..place };
        let read = backend.download(place, bytemuck::cast_slice_mut(out));
        read.map_err(|fault| anyhow!(Failed::at(root, fault).told(backend.name(), graph)))
    }

    /// Returns a result of the graph without a copy. `result` is its index in the list of results.
    /// Returns `None` if the result's backend can't lend it ([`Backend::lent`]).
    ///
    /// # Panics
    /// If the graph doesn't have that many results.
    #[must_use]
    pub fn lent(&self, ready: &Ready, result: usize) -> Option<&[f32]> {
        let Schedule { graph, results, owners, .. } = &ready.schedule;
        let root = graph.root(results[result]);
        let owner = owners[root.index()]?;
        let bytes = 4 * graph.layout(root).elements();
        let place = Place { bytes, ..ready.places[owner][root.index()]? };
        bytemuck::try_cast_slice(self.backends[owner].0.lent(place)?).ok()
    }

    /// Releases the memory that belongs to this graph alone. Weights stay in memory.
    pub fn release(&mut self, ready: Ready) {
        for ((backend, _), buffers) in self.backends.iter_mut().zip(ready.buffers) {
            for buffer in buffers {
                // A lost device has no memory to release.
                let _ = backend.release(buffer);
            }
        }
    }
}

/// Returns whether the bytes of a node are in this backend's memory.
fn is_at(schedule: &Schedule, id: NodeId, backend: usize) -> bool {
    schedule.owners[id.index()] == Some(backend)
}

/// Assigns every node that must be computed to backend 0, the only backend.
fn everything(graph: &Graph, order: &[NodeId]) -> Vec<Option<usize>> {
    let mut placed = vec![None; graph.len()];
    for &id in order {
        let op = &graph.node(id).op;
        placed[id.index()] = (!op.is_leaf() && !op.is_view()).then_some(0);
    }
    placed
}

/// Uploads the values of the leaves in `numbers` into one buffer. Such leaves, for example norms
/// and biases, never change.
fn put_numbers(
    backend: &mut dyn Backend,
    graph: &Graph,
    numbers: &[NodeId],
    places: &mut [Option<Place>],
    buffers: &mut Vec<BufferId>,
) -> Result<(), Fault> {
    let unit = backend.alignment().max(ALIGNMENT);
    let bytes = |&id: &NodeId| (4 * graph.layout(id).elements()).next_multiple_of(unit);
    let all: usize = numbers.iter().map(bytes).sum();
    if all == 0 {
        return Ok(());
    }
    let buffer = backend.allocate(all)?;
    buffers.push(buffer);
    let mut offset = 0;
    for &id in numbers {
        let Op::Values(values) = &graph.node(id).op else { unreachable!("numbers alone") };
        let place = Place { buffer, offset, bytes: 4 * values.len() };
        backend.upload(place, bytemuck::cast_slice(values))?;
        places[id.index()] = Some(place);
        offset += bytes(&id);
    }
    Ok(())
}

impl Schedule {
    /// Returns the number of copies.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.splits.iter().map(|split| split.copies.len()).sum()
    }

    /// Returns the number of bytes that are copied between backends.
    #[must_use]
    pub fn copied_bytes(&self) -> usize {
        let copies = self.splits.iter().flat_map(|split| &split.copies);
        copies.map(|&copy| 4 * self.graph.layout(copy).elements()).sum()
    }

    /// Returns copies and nodes in the order in which they run.
    #[must_use]
    pub fn order(&self) -> Vec<NodeId> {
        let both = |split: &Split| [&split.copies[..], &split.nodes[..]].concat();
        self.splits.iter().flat_map(both).collect()
    }
}
