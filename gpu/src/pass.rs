//! Kernels recorded one after the other and submitted together.

use std::{num::NonZero, sync::atomic::Ordering};

use anyhow::{Context, Result, ensure};
use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, BufferDescriptor,
    BufferUsages, CommandEncoder,
};

use crate::{Buffer, Gpu, Kernel};

/// Maximum number of uniforms of a kernel.
const UNIFORMS: usize = 8;

/// Recorded work, which runs after it is submitted (Metal: `MTLCommandBuffer` and
/// `MTLComputeCommandEncoder`). Each kernel sees the writes of the previous ones.
#[derive(Debug)]
pub struct Pass<'a> {
    gpu: &'a Gpu,
    encoder: CommandEncoder,
    kernels: usize,
}

impl Gpu {
    /// Begins a pass, which records work until it is submitted.
    pub fn pass(&self) -> Pass<'_> {
        let encoder = self.device.create_command_encoder(&Default::default());
        Pass { gpu: self, encoder, kernels: 0 }
    }
}

impl Pass<'_> {
    /// Records a kernel with `groups` workgroups. `uniforms` are the numbers in binding 0 (an f32
    /// is passed as its bits). `reads` are the next bindings, and `writes` is the last one.
    ///
    /// # Errors
    /// If the bindings don't match the kernel, or there are too many workgroups for the device.
    pub fn run(
        &mut self,
        kernel: &Kernel,
        uniforms: &[u32],
        reads: &[&Buffer],
        writes: &Buffer,
        groups: [u32; 3],
    ) -> Result<()> {
        let (gpu, name) = (self.gpu, &kernel.name);
        ensure!(
            reads.len() == kernel.reads && uniforms.len() <= UNIFORMS,
            "{name}: buffers to read: found {}, expected {}. Uniforms: found {}, expected at most \
             {UNIFORMS}",
            reads.len(),
            kernel.reads,
            uniforms.len()
        );
        let most = gpu.about().groups;
        ensure!(
            groups.iter().all(|&n| n <= most),
            "{}: {name}: found {groups:?} workgroups, expected at most {most} along each axis",
            gpu.about()
        );
        let mut numbers = [0; UNIFORMS];
        numbers[..uniforms.len()].copy_from_slice(uniforms);
        let (size, usage) = (4 * UNIFORMS as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        let descriptor = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        gpu.scoped(name, || {
            let uniform = gpu.device.create_buffer(&descriptor);
            gpu.queue.write_buffer(&uniform, 0, bytemuck::cast_slice(&numbers));
            let buffers = reads.iter().copied().chain([writes]).map(|buffer| {
                BindingResource::Buffer(BufferBinding {
                    buffer: &buffer.inner,
                    offset: buffer.offset as u64,
                    size: NonZero::new((buffer.bytes().max(4) as u64).next_multiple_of(4)),
                })
            });
            let entries: Vec<BindGroupEntry<'_>> = [uniform.as_entire_binding()]
                .into_iter()
                .chain(buffers)
                .zip(0..)
                .map(|(resource, binding)| BindGroupEntry { binding, resource })
                .collect();
            let group = gpu.device.create_bind_group(&BindGroupDescriptor {
                label: Some(name),
                layout: &kernel.layout,
                entries: &entries,
            });
            let mut pass = self.encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        })?;
        self.kernels += 1;
        Ok(())
    }

    /// Records a copy (Metal: `MTLBlitCommandEncoder`). It copies `bytes` bytes from offset `start`
    /// of `from` to offset `at` of `to`. All three numbers must be multiples of 4.
    ///
    /// # Errors
    /// If a range is outside its buffer, or a number is not a multiple of 4.
    pub fn copy(
        &mut self,
        from: &Buffer,
        start: usize,
        to: &Buffer,
        at: usize,
        bytes: usize,
    ) -> Result<()> {
        ensure!(
            start + bytes <= from.bytes() && at + bytes <= to.bytes(),
            "copying {bytes} bytes from offset {start} to offset {at}: found buffers of {} and {} \
             bytes",
            from.bytes(),
            to.bytes()
        );
        let (start, at) = ((from.offset + start) as u64, (to.offset + at) as u64);
        self.gpu.scoped("a copy", || {
            self.encoder.copy_buffer_to_buffer(&from.inner, start, &to.inner, at, bytes as u64);
        })
    }

    /// Returns the number of recorded kernels.
    pub fn kernels(&self) -> usize {
        self.kernels
    }

    /// Submits the recording to the queue (Metal: `commit`). Returns without waiting.
    ///
    /// # Errors
    /// If the device rejects the recording.
    pub fn submit(self) -> Result<()> {
        let Self { gpu, encoder, .. } = self;
        gpu.scoped("a submission", || gpu.queue.submit([encoder.finish()]))?;
        gpu.look().context("a submission")?;
        gpu.submissions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
