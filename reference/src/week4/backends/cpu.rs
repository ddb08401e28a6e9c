//! Day 4. The CPU as a backend: its buffers are the program's own memory, and all work is done when
//! a call returns.
//!
//! Tasks here: week4-day4 task 1 (`Cpu::range`, `Cpu::upload`, `Cpu::download`). Everything else is
//! provided.

use std::{mem, ops::Range};

use tiny_llm_formats::bytes::Bytes;

use super::{
    backend::{Backend, BufferId, Failed, Fault, Place, Work},
    execute::Products,
    graph::{Graph, NodeId},
    kernels::{compute, overwrite},
    op::Op,
    planned::lend,
    step::AnyStep,
};

/// The CPU as a backend. It computes with the kernels and the threads of the step's plan.
#[derive(Debug, Default)]
pub struct Cpu {
    /// The buffers, indexed by number. A buffer that was released is `None`.
    buffers: Vec<Option<Memory>>,
    products: Products,
    /// Maximum number of bytes in allocated buffers, or `None` for no limit.
    limit: Option<usize>,
    /// Number of bytes in the buffers that this backend has allocated and not released. A buffer's
    /// size is the requested size, rounded up to a multiple of 4.
    used: usize,
}

/// A buffer of the CPU.
#[derive(Debug)]
enum Memory {
    /// Memory that the backend allocated.
    Own(Vec<f32>),
    /// The memory of a mapped file, which is used without a copy.
    Host(Bytes),
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(numbers) => bytemuck::cast_slice(numbers),
            Self::Host(bytes) => bytes,
        }
    }
}

impl Cpu {
    /// Creates a CPU backend whose allocated buffers have at most `bytes` bytes in total.
    #[must_use]
    pub fn with_limit(bytes: usize) -> Self {
        Self { limit: Some(bytes), ..Self::default() }
    }

    /// Returns the range of bytes that `place` covers within its buffer.
    ///
    /// # Errors
    /// If there is no such buffer, or the place extends past the end of its memory. The memory of
    /// an allocated buffer has the requested size, rounded up to a multiple of 4 bytes.
    fn range(&self, place: Place) -> Result<Range<usize>, Fault> {
        // SOLUTION week4-day4 task 1
        let memory = self.buffers.get(place.buffer.0).and_then(Option::as_ref);
        let len = memory.ok_or(Fault::NoBuffer(place.buffer))?.bytes().len();
        match place.offset.checked_add(place.bytes) {
            Some(end) if end <= len => Ok(place.offset..end),
            _ => Err(Fault::OutOfBounds { place, len }),
        }
        // END SOLUTION
    }

    /// Returns the range of f32 elements that node `id`'s result occupies in the buffer of `place`.
    fn numbers(&self, graph: &Graph, id: NodeId, place: Place) -> Result<Range<usize>, Fault> {
        let range = self.range(place)?;
        let (len, expected) = (range.len() / 4, graph.layout(id).elements());
        if len < expected || !range.start.is_multiple_of(4) {
            return Err(Fault::WrongLength { place, found: 4 * expected });
        }
        Ok(range.start / 4..range.start / 4 + expected)
    }

    /// Provided. Computes one node: reads from its sources' places, and writes to its own place.
    ///
    /// - A product is computed with [`Products::multiply`].
    /// - A node that has the same place as its first source is computed with [`overwrite`].
    /// - Any other node is computed with [`compute`].
    ///
    /// Matrices ([`Op::Weight`]) are read through the graph, because the CPU's host pointers refer
    /// to the same memory. Values ([`Op::Values`]) are read from their place. Tokens come from the
    /// step. ([`lend`] borrows several parts of a buffer at once.)
    fn node(&mut self, work: &Work<'_>, id: NodeId, step: &mut AnyStep<'_>) -> Result<(), Fault> {
        let graph = work.graph;
        let node = graph.node(id);
        let own = work.place(id)?;
        let written = self.numbers(graph, id, own)?;
        // `near`: the sources in the buffer that is written. `far`: those in other buffers.
        let (mut near, mut far) = ([const { None }; 2], [const { None }; 2]);
        for (i, &source) in node.sources.iter().enumerate() {
            let root = graph.root(source);
            if matches!(graph.node(root).op, Op::Weight(_) | Op::Tokens) {
                continue;
            }
            let place = work.place(root)?;
            let range = self.numbers(graph, root, place)?;
            if place.buffer == own.buffer {
                near[i] = Some(range);
            } else {
                far[i] = Some((place.buffer, range));
            }
        }
        let Some(Memory::Own(numbers)) = &mut self.buffers[own.buffer.0] else {
            return Err(Fault::ReadOnly(own.buffer));
        };
        // Take the buffer out, so that other buffers can be read while it is written.
        let mut arena = mem::take(numbers);
        let mut sources = [&[][..]; 2];
        for (source, far) in sources.iter_mut().zip(&far) {
            if let Some((buffer, range)) = far {
                let memory = self.buffers[buffer.0].as_ref().expect("its range was found");
                *source = &bytemuck::cast_slice(memory.bytes())[range.clone()];
            }
        }
        if near[0].as_ref().is_some_and(|first| first.start == written.start) {
            let (out, lent) = lend(&mut arena, written, [None, near[1].clone()]);
            overwrite(graph, id, lent[1].unwrap_or(sources[1]), step, out);
        } else {
            let (out, lent) = lend(&mut arena, written, near);
            for (source, lent) in sources.iter_mut().zip(lent) {
                *source = lent.unwrap_or(*source);
            }
            match node.op {
                Op::MulMat => self.products.multiply(graph, id, sources, step.plan, out),
                _ => compute(graph, id, sources, step, out),
            }
        }
        self.buffers[own.buffer.0] = Some(Memory::Own(arena));
        Ok(())
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn supports(&self, _graph: &Graph, _id: NodeId) -> bool {
        true
    }

    fn works_in_place(&self) -> bool {
        true
    }

    /// Returns 1, because blocks of weights can be read at any address.
    fn alignment(&self) -> usize {
        1
    }

    fn allocate(&mut self, bytes: usize) -> Result<BufferId, Fault> {
        if self.limit.is_some_and(|limit| bytes > limit.saturating_sub(self.used)) {
            return Err(Fault::OutOfMemory { wanted: bytes, limit: self.limit });
        }
        let numbers = vec![0.0; bytes.div_ceil(4)];
        self.used += 4 * numbers.len();
        self.buffers.push(Some(Memory::Own(numbers)));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn host_pointer(&mut self, bytes: &Bytes) -> Option<BufferId> {
        self.buffers.push(Some(Memory::Host(bytes.clone())));
        Some(BufferId(self.buffers.len() - 1))
    }

    fn release(&mut self, buffer: BufferId) -> Result<(), Fault> {
        let memory = self.buffers.get_mut(buffer.0).and_then(Option::take);
        if let Memory::Own(numbers) = memory.ok_or(Fault::NoBuffer(buffer))? {
            self.used -= 4 * numbers.len();
        }
        Ok(())
    }

    fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), Fault> {
        // SOLUTION week4-day4 task 1
        let range = self.range(to)?;
        if range.len() != bytes.len() {
            return Err(Fault::WrongLength { place: to, found: bytes.len() });
        }
        let Some(Memory::Own(numbers)) = &mut self.buffers[to.buffer.0] else {
            return Err(Fault::ReadOnly(to.buffer));
        };
        bytemuck::cast_slice_mut(numbers)[range].copy_from_slice(bytes);
        Ok(())
        // END SOLUTION
    }

    fn compute(&mut self, work: &Work<'_>, step: &mut AnyStep<'_>) -> Result<(), Failed> {
        self.products.forget();
        let team = &step.plan.team;
        team.enter();
        for &id in work.nodes {
            self.node(work, id, step).map_err(|fault| Failed::at(id, fault))?;
        }
        Ok(())
    }

    fn download(&mut self, from: Place, bytes: &mut [u8]) -> Result<(), Fault> {
        // SOLUTION week4-day4 task 1
        let range = self.range(from)?;
        if range.len() != bytes.len() {
            return Err(Fault::WrongLength { place: from, found: bytes.len() });
        }
        let memory = self.buffers[from.buffer.0].as_ref().expect("its range was found");
        bytes.copy_from_slice(&memory.bytes()[range]);
        Ok(())
        // END SOLUTION
    }

    fn lent(&self, from: Place) -> Option<&[u8]> {
        let range = self.range(from).ok()?;
        Some(&self.buffers[from.buffer.0].as_ref()?.bytes()[range])
    }

    fn synchronise(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}
