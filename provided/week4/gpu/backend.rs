//! Day 5. The GPU as a backend of day 4. Most nodes need one dispatch of a kernel. All nodes of a
//! [`Work`] run in one submission.

use std::{collections::HashMap, mem};

use anyhow::{Context as _, Error, Result, ensure};
use tiny_llm_gpu::{ALIGNMENT, Buffer, Gpu, OutOfMemory, Pass};

use crate::week4::gpu::{
    attention::LONGEST_HEAD,
    elementwise::{THREADS, dispatch_size},
    kernels::{Kernels, Which, is_known},
    record::{DeviceMatrix, product},
};
use crate::{
    week2::rope::RopeLayout,
    week4::{
        backend::{Backend, BufferId, Failed, Fault, Place, Work},
        graph::{Graph, NodeId},
        op::Op,
        step::AnyStep,
    },
};

/// A GPU with the kernels of day 5.
#[derive(Debug)]
pub struct GpuBackend {
    gpu: &'static Gpu,
    kernels: Kernels<'static>,
    /// Buffers by number. A buffer that was released is `None`.
    buffers: Vec<Option<Buffer>>,
    /// Keys and values of each layer that has a `store` node, `[positions, H, D]`.
    cache: HashMap<usize, [Buffer; 2]>,
}

/// The tokens and RoPE angles of a pass, in the device's memory.
struct Rows {
    tokens: Buffer,
    /// Cosine and sine of each RoPE angle, as `[rows, D/2]` pairs.
    turns: Buffer,
    first: usize,
    n: usize,
}

impl GpuBackend {
    /// Creates a backend on the device that the whole program shares.
    ///
    /// # Errors
    /// If there is no device.
    pub fn open() -> Result<Self> {
        Gpu::shared().map(Self::on)
    }

    /// Creates a backend on this device.
    #[must_use]
    pub fn on(gpu: &'static Gpu) -> Self {
        let (buffers, cache) = (Vec::new(), HashMap::new());
        Self { gpu, kernels: Kernels::new(gpu), buffers, cache }
    }

    fn part(&self, place: Place) -> Result<Buffer, Fault> {
        let buffer = self.buffers.get(place.buffer.0).and_then(Option::as_ref);
        let buffer = buffer.ok_or(Fault::NoBuffer(place.buffer))?;
        let part = buffer.part(place.offset, place.bytes);
        part.map_err(|_| Fault::OutOfBounds { place, len: buffer.bytes() })
    }

    /// Returns the buffers for the keys and values of a layer. Allocates them on the first call for
    /// the layer, and again if the step's cache has another size.
    fn room(&mut self, layer: usize, step: &AnyStep<'_>) -> Result<[Buffer; 2]> {
        let sizes = step.cache.sizes();
        ensure!(
            sizes.sequences == 1,
            "found a cache of {} sequences, expected 1 on this backend",
            sizes.sequences
        );
        let bytes = 4 * sizes.capacity * sizes.kv_heads * sizes.head_dim;
        if let Some(room) = self.cache.get(&layer).filter(|room| room[0].bytes() == bytes) {
            return Ok(room.clone());
        }
        let room = [self.gpu.buffer(bytes)?, self.gpu.buffer(bytes)?];
        self.cache.insert(layer, room.clone());
        Ok(room)
    }

    /// Uploads the tokens and RoPE angles of a pass.
    fn rows(&self, step: &AnyStep<'_>) -> Result<Rows> {
        let first = step
            .rows
            .first()
            .context("found a pass without rows, expected at least one row")?
            .position;
        let in_order = step.rows.iter().zip(first..).all(|(row, at)| row.position == at);
        ensure!(in_order, "this backend takes only rows of one sequence at consecutive positions");
        let tokens: Vec<u8> = step.rows.iter().flat_map(|row| row.token.to_le_bytes()).collect();
        let turns = step.rows.iter().flat_map(|row| step.rope.0.turns(row.position));
        let turns: Vec<f32> = turns.flat_map(|&(cos, sin)| [cos, sin]).collect();
        Ok(Rows {
            tokens: self.gpu.upload(&tokens)?,
            turns: self.gpu.upload(bytemuck::cast_slice(&turns))?,
            first,
            n: step.rows.len(),
        })
    }

    /// Records the kernels or copies that compute one node.
    fn record(
        &mut self,
        pass: &mut Pass<'_>,
        work: &Work<'_>,
        id: NodeId,
        rows: &Rows,
        step: &AnyStep<'_>,
    ) -> Result<()> {
        let (graph, node) = (work.graph, work.graph.node(id));
        let layout = node.layout;
        let (n, width) = (layout.elements(), layout.ne[0]);
        let all_rows = n / width;
        let at = |i: usize| -> Result<Buffer> { Ok(self.part(work.place(node.sources[i])?)?) };
        let out = self.part(work.place(id)?)?;
        let kernel = |which| self.kernels.get(which);
        let groups = |n| dispatch_size(n, THREADS);
        let count = |n: usize| n as u32;
        match &node.op {
            Op::MulMat => {
                let Op::Weight(weight) = &graph.node(node.sources[0]).op else {
                    unreachable!("only products with weights are supported")
                };
                let weight = DeviceMatrix {
                    tensor_type: weight.tensor_type,
                    rows: weight.rows,
                    k: weight.cols,
                    bytes: at(0)?,
                };
                product(pass, &self.kernels, &weight, &at(1)?, all_rows, &out)
            }
            Op::Embed => {
                let table = graph.layout(node.sources[0]);
                let sizes = [width, table.ne[1], rows.n].map(count);
                let which = Which::Embed(table.tensor_type);
                let reads = [&at(0)?, &rows.tokens];
                pass.run(&*kernel(which)?, &sizes, &reads, &out, groups(n / 4)?)
            }
            Op::Add => {
                let (which, sizes) = if graph.layout(node.sources[1]).elements() == n {
                    (Which::Add, [count(n), 0])
                } else {
                    (Which::AddRow, [count(n), count(width)])
                };
                pass.run(&*kernel(which)?, &sizes, &[&at(0)?, &at(1)?], &out, groups(n)?)
            }
            Op::RmsNorm { eps } => {
                let sizes = [count(width), count(all_rows), eps.to_bits()];
                let groups = dispatch_size(all_rows, 1)?;
                pass.run(&*kernel(Which::RmsNorm)?, &sizes, &[&at(0)?, &at(1)?], &out, groups)
            }
            Op::Rope => {
                let interleaved = u32::from(step.rope.1 == RopeLayout::Interleaved);
                let sizes = [count(width), count(layout.ne[1]), count(rows.n), interleaved];
                let reads = [&at(0)?, &rows.turns];
                pass.run(&*kernel(Which::Rope)?, &sizes, &reads, &out, groups(n / 2)?)
            }
            Op::SiluGate => {
                let reads = [&at(0)?, &at(1)?];
                pass.run(&*kernel(Which::SiluGate)?, &[count(n)], &reads, &out, groups(n)?)
            }
            Op::Store { layer } => {
                let from = [at(0)?, at(1)?];
                let bytes = 4 * graph.layout(node.sources[0]).elements();
                let start = rows.first * (bytes / rows.n);
                for (from, to) in from.iter().zip(self.room(*layer, step)?) {
                    pass.copy(from, 0, &to, start, bytes)?;
                }
                Ok(())
            }
            Op::Attend { layer } => {
                let queries = at(0)?;
                let [keys, values] = self.room(*layer, step)?;
                let [d, heads, ..] = graph.layout(node.sources[0]).ne;
                let kv_heads = step.cache.sizes().kv_heads;
                let scale = 1.0 / (d as f32).sqrt();
                let sizes = [rows.n, heads, kv_heads, d, rows.first].map(count);
                let sizes = [&sizes[..], &[scale.to_bits()]].concat();
                let groups = [count(heads), count(rows.n), 1];
                let kernel = self.kernels.get(Which::Attention)?;
                pass.run(&kernel, &sizes, &[&queries, &keys, &values], &out, groups)
            }
            Op::Wanted => {
                let (from, kernel) = (at(0)?, kernel(Which::Copy)?);
                let wanted = step.rows.iter().enumerate().filter(|(_, row)| row.logits);
                for (to, (row, _)) in wanted.enumerate() {
                    let sizes = [width, row * width, to * width].map(count);
                    pass.run(&kernel, &sizes, &[&from], &out, groups(width)?)?;
                }
                Ok(())
            }
            _ => unreachable!("{} is not supported", graph.told(id)),
        }
    }
}

impl Backend for GpuBackend {
    fn name(&self) -> &str {
        "gpu"
    }

    fn supports(&self, graph: &Graph, id: NodeId) -> bool {
        let node = graph.node(id);
        let of = |i: usize| graph.layout(node.sources[i]);
        let is_known_weight = || {
            let weight = of(0);
            let is_weight = matches!(graph.node(node.sources[0]).op, Op::Weight(_));
            is_weight && is_known(weight.tensor_type) && weight.ne[0].is_multiple_of(32)
        };
        match &node.op {
            Op::MulMat => is_known_weight() && of(1).is_plain() && of(1).ne[2..] == [1, 1],
            Op::Embed => is_known_weight(),
            Op::Add => {
                let (n, b) = (node.layout.elements(), of(1).elements());
                let is_row = of(1).ne[0] == node.layout.ne[0] && b == node.layout.ne[0];
                of(0).is_plain() && of(1).is_plain() && (b == n || is_row)
            }
            Op::Attend { .. } => of(0).ne[0] <= LONGEST_HEAD as usize,
            Op::RmsNorm { .. } | Op::Rope | Op::SiluGate | Op::Store { .. } | Op::Wanted => true,
            _ => false,
        }
    }

    fn alignment(&self) -> usize {
        ALIGNMENT
    }

    fn allocate(&mut self, bytes: usize) -> Result<BufferId, Fault> {
        let buffer = self.gpu.buffer(bytes).map_err(|error| self.fault(&error))?;
        self.buffers.push(Some(buffer));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn release(&mut self, buffer: BufferId) -> Result<(), Fault> {
        let given = self.buffers.get_mut(buffer.0).and_then(mem::take);
        given.map(drop).ok_or(Fault::NoBuffer(buffer))
    }

    fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), Fault> {
        if to.bytes != bytes.len() {
            return Err(Fault::WrongLength { place: to, found: bytes.len() });
        }
        self.gpu.write(&self.part(to)?, bytes).map_err(|error| self.fault(&error))
    }

    fn compute(&mut self, work: &Work<'_>, step: &mut AnyStep<'_>) -> Result<(), Failed> {
        let [Some(&first), Some(&last)] = [work.nodes.first(), work.nodes.last()] else {
            return Ok(());
        };
        let rows = self.rows(step).map_err(|error| Failed::at(first, self.fault(&error)))?;
        let mut pass = self.gpu.pass();
        for &id in work.nodes {
            self.record(&mut pass, work, id, &rows, step)
                .map_err(|error| Failed::at(id, self.fault(&error)))?;
        }
        // The device doesn't say which of the nodes failed.
        let [first, last] = [first, last].map(|id| work.graph.told(id));
        let kernels = pass.kernels();
        let submitted = pass
            .submit()
            .with_context(|| format!("cannot run {kernels} kernels, from {first} to {last}"));
        submitted.map_err(|error| Failed::from(self.fault(&error)))
    }

    fn download(&mut self, from: Place, bytes: &mut [u8]) -> Result<(), Fault> {
        if from.bytes != bytes.len() {
            return Err(Fault::WrongLength { place: from, found: bytes.len() });
        }
        let found = self.gpu.download(&self.part(from)?).map_err(|error| self.fault(&error))?;
        bytes.copy_from_slice(&found);
        Ok(())
    }

    fn synchronise(&mut self) -> Result<(), Fault> {
        self.gpu.wait().map_err(|error| self.fault(&error))
    }
}

impl GpuBackend {
    /// Converts an error to a [`Fault`], with a one-line message.
    fn fault(&self, error: &Error) -> Fault {
        if let Some(fault) = error.downcast_ref::<Fault>() {
            return fault.clone();
        }
        match error.downcast_ref() {
            Some(&OutOfMemory { wanted }) if wanted > 0 => {
                let limit = self.gpu.about().buffer_bytes as usize;
                return Fault::OutOfMemory { wanted, limit: (wanted > limit).then_some(limit) };
            }
            _ => {}
        }
        let text = format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
        if self.gpu.is_lost() { Fault::Lost(text) } else { Fault::Refused(text) }
    }
}
