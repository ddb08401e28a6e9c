//! Compiled WGSL.

use anyhow::Result;
use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    BufferBindingType, ComputePipeline, ComputePipelineDescriptor, PipelineLayoutDescriptor,
    ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

use crate::{Gpu, check};

/// A compute pipeline (Metal: `MTLComputePipelineState`, made from an `MTLFunction`).
///
/// All bindings are in group 0: uniforms at binding 0, then the buffers that the kernel reads, then
/// the buffer that it writes.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) pipeline: ComputePipeline,
    pub(crate) layout: BindGroupLayout,
    pub(crate) reads: usize,
}

impl Gpu {
    /// Compiles the entry point `main` of the WGSL in `text`, for a kernel that reads `reads`
    /// buffers and writes one.
    ///
    /// # Errors
    /// If naga rejects the text, or the device rejects the bindings. The message comes from naga or
    /// the device. A message from naga shows the line.
    pub fn kernel(&self, name: &str, text: &str, reads: usize) -> Result<Kernel> {
        check(name, text)?;
        let entry = |binding: usize| {
            let ty = match binding {
                0 => BufferBindingType::Uniform,
                // A kernel may read and write parts of the same buffer.
                _ => BufferBindingType::Storage { read_only: false },
            };
            BindGroupLayoutEntry {
                binding: binding as u32,
                visibility: ShaderStages::COMPUTE,
                ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            }
        };
        let entries: Vec<_> = (0..reads + 2).map(entry).collect();
        self.scoped(name, || {
            let layout = self.device.create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: Some(name),
                entries: &entries,
            });
            let of_pipeline = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
                label: Some(name),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let module = self.device.create_shader_module(ShaderModuleDescriptor {
                label: Some(name),
                source: ShaderSource::Wgsl(text.into()),
            });
            let pipeline = self.device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&of_pipeline),
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            });
            Kernel { name: name.to_owned(), pipeline, layout, reads }
        })
    }
}
