//! Day 4. A second backend for machines without a GPU: the CPU again, with its own memory. It
//! counts calls, its operations can be restricted, and it can be made to fail.

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

/// A CPU backend with its own memory, limits and counters.
#[derive(Debug, Default)]
pub struct Twin {
    cpu: Cpu,
    lacks: Vec<String>,
    reads_host: bool,
    alignment: Option<usize>,
    counts: Arc<Counts>,
    /// Weights that have been checked, by buffer and offset.
    seen: HashSet<(BufferId, usize)>,
}

/// Counters of calls and bytes.
#[derive(Debug, Default)]
pub struct Counts {
    /// Number of calls to `allocate`.
    pub allocations: AtomicUsize,
    /// Number of allocated buffers that haven't been released.
    pub buffers: AtomicUsize,
    /// Number of calls to `host_pointer`.
    pub host_pointers: AtomicUsize,
    /// Number of calls to `upload`.
    pub uploads: AtomicUsize,
    /// Number of bytes in all uploads.
    pub uploaded: AtomicUsize,
    /// Number of calls to `download`.
    pub downloads: AtomicUsize,
    /// Number of calls to `compute`.
    pub submissions: AtomicUsize,
    /// Number of the call at which the device is lost. The next call that allocates, uploads,
    /// downloads or computes has number 1. If 0, the device is never lost.
    pub lost_after: AtomicUsize,
}

impl Twin {
    /// Creates a backend that supports all operations except `operations`.
    #[must_use]
    pub fn without(operations: &[&str]) -> Self {
        let lacks = operations.iter().map(|&name| name.to_owned()).collect();
        Self { lacks, ..Self::default() }
    }

    /// Limits the backend's memory to this many bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.cpu = Cpu::with_limit(bytes);
        self
    }

    /// Lets the backend read the program's memory.
    #[must_use]
    pub fn with_host_pointers(mut self) -> Self {
        self.reads_host = true;
        self
    }

    /// Sets the alignment of places, in bytes.
    #[must_use]
    pub fn with_alignment(mut self, bytes: usize) -> Self {
        self.alignment = Some(bytes);
        self
    }

    /// Returns the counters. They can be read while the backend is in use.
    #[must_use]
    pub fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// Increments `counter`. Returns an error if the device is lost.
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
    /// Checks that all bytes of a node's weights are in this backend's memory, unchanged.
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
                return Err(Fault::NoPlace(format!("an unchanged copy of {what}")));
            }
        }
        Ok(())
    }
}
