//! Day 4. A second backend where there is no device: the processor once more, with memory
//! of its own. It counts, it can be made unable, and it can break down.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tiny_llm_formats::bytes::Bytes;

use crate::week4::{
    backend::{Backend, BufferId, Failed, Fault, Place, Work},
    cpu::Cpu,
    graph::{Graph, NodeId},
    op::Op,
    step::AnyStep,
};

/// What it can, and what has been asked of it.
#[derive(Debug, Default)]
pub struct Twin {
    cpu: Cpu,
    lacks: Vec<String>,
    reads_host: bool,
    alignment: Option<usize>,
    counts: Arc<Counts>,
    /// Where weights lie that have been looked at: buffer and offset.
    seen: HashSet<(BufferId, usize)>,
}

/// How often, and how much.
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls of `allocate`.
    pub allocations: AtomicUsize,
    /// Buffers that have not been given back.
    pub buffers: AtomicUsize,
    /// Calls of `host_pointer`.
    pub host_pointers: AtomicUsize,
    /// Calls of `upload`.
    pub uploads: AtomicUsize,
    /// Their bytes.
    pub uploaded: AtomicUsize,
    /// Calls of `download`.
    pub downloads: AtomicUsize,
    /// Calls of `compute`.
    pub submissions: AtomicUsize,
    /// Calls that still succeed; 0 is for ever.
    pub lost_after: AtomicUsize,
}

impl Twin {
    /// One that computes everything but these operations.
    #[must_use]
    pub fn without(operations: &[&str]) -> Self {
        let lacks = operations.iter().map(|&name| name.to_owned()).collect();
        Self { lacks, ..Self::default() }
    }

    /// The same with this many bytes of memory.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.cpu = Cpu::with_limit(bytes);
        self
    }

    /// The same, but it reads the memory of the program.
    #[must_use]
    pub fn with_host_pointers(mut self) -> Self {
        self.reads_host = true;
        self
    }

    /// The same, but its places begin at multiples of this many bytes.
    #[must_use]
    pub fn with_alignment(mut self, bytes: usize) -> Self {
        self.alignment = Some(bytes);
        self
    }

    /// What is counted, also while it is at work.
    #[must_use]
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// A call: fails if the device has been lost.
    fn called(&self, counter: &AtomicUsize) -> Result<(), Fault> {
        counter.fetch_add(1, Ordering::Relaxed);
        match self.counts.lost_after.load(Ordering::Relaxed) {
            0 => return Ok(()),
            1 => return Err(Fault::Lost("someone has pulled the plug".to_owned())),
            _ => self.counts.lost_after.fetch_sub(1, Ordering::Relaxed),
        };
        Ok(())
    }
}

impl Backend for Twin {
    fn name(&self) -> &str {
        "twin"
    }

    fn supports(&self, graph: &Graph, id: NodeId) -> bool {
        !self.lacks.iter().any(|name| name == graph.node(id).op.name())
    }

    fn works_in_place(&self) -> bool {
        true
    }

    fn alignment(&self) -> usize {
        self.alignment.unwrap_or(crate::week4::lifetimes::ALIGNMENT)
    }

    fn allocate(&mut self, bytes: usize) -> Result<BufferId, Fault> {
        self.called(&self.counts.allocations)?;
        let buffer = self.cpu.allocate(bytes)?;
        self.counts.buffers.fetch_add(1, Ordering::Relaxed);
        Ok(buffer)
    }

    fn host_pointer(&mut self, bytes: &Bytes) -> Option<BufferId> {
        self.counts.host_pointers.fetch_add(1, Ordering::Relaxed);
        self.reads_host.then(|| self.cpu.host_pointer(bytes)).flatten()
    }

    fn release(&mut self, buffer: BufferId) -> Result<(), Fault> {
        self.seen.retain(|(other, _)| *other != buffer);
        self.cpu.release(buffer)?;
        self.counts.buffers.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), Fault> {
        self.called(&self.counts.uploads)?;
        self.counts.uploaded.fetch_add(bytes.len(), Ordering::Relaxed);
        self.seen.retain(|(buffer, _)| *buffer != to.buffer);
        self.cpu.upload(to, bytes)
    }

    fn compute(&mut self, work: &Work<'_>, step: &mut AnyStep<'_>) -> Result<(), Failed> {
        self.called(&self.counts.submissions)?;
        for &id in work.nodes {
            if !self.supports(work.graph, id) {
                let what = work.graph.node(id).op.name().to_owned();
                return Err(Failed::at(id, Fault::Unsupported(what)));
            }
            self.has_weights(work, id).map_err(|fault| Failed::at(id, fault))?;
        }
        self.cpu.compute(work, step)
    }

    fn download(&mut self, from: Place, bytes: &mut [u8]) -> Result<(), Fault> {
        self.called(&self.counts.downloads)?;
        self.cpu.download(from, bytes)
    }

    fn synchronise(&mut self) -> Result<(), Fault> {
        self.cpu.synchronise()
    }
}

impl Twin {
    /// That the weights which a node reads are in this memory, every byte.
    fn has_weights(&mut self, work: &Work<'_>, id: NodeId) -> Result<(), Fault> {
        for &source in &work.graph.node(id).sources {
            let root = work.graph.root(source);
            let Op::Weight(weight) = &work.graph.node(root).op else { continue };
            let place = work.place(root)?;
            if !self.seen.insert((place.buffer, place.offset)) {
                continue;
            }
            let mut found = vec![0; place.bytes];
            self.cpu.download(place, &mut found)?;
            if found != weight.bytes() {
                let what = work.graph.told(root);
                return Err(Fault::NoPlace(format!("{what}, with the bytes of the file,")));
            }
        }
        Ok(())
    }
}
