//! Day 5. Compiles all kernels of the day.

use std::{cell::RefCell, sync::Arc};

use anyhow::Result;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_gpu::{Gpu, Kernel};

use crate::week4::gpu::{attention, elementwise, formats, mat_mat, mat_vec, norm};

/// A set of kernels. Each kernel is compiled when it is first requested, because a learner may not
/// have written the kernels of later tasks yet.
#[derive(Debug)]
pub struct Kernels<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    compiled: RefCell<Vec<(Which, Arc<Kernel>)>>,
}

/// Identifies a kernel of a [`Kernels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// `a + b`
    Add,
    /// `silu(a) · b`
    SiluGate,
    /// RMSNorm: divides each row by its root mean square, and multiplies it by the norm's weight.
    RmsNorm,
    /// Multiplies a matrix of this type by a few columns of activations. The type must satisfy
    /// [`is_known`].
    MatVec(TensorType),
    /// Multiplies a matrix of this type by many columns of activations.
    MatMat(TensorType),
    /// Attention over the cache.
    Attention,
    /// Embedding: looks up rows of a table of this type. (Provided.)
    Embed(TensorType),
    /// RoPE: rotates each head by the position of its row. (Provided.)
    Rope,
    /// Adds a bias to every row. (Provided.)
    AddRow,
    /// Copies elements from one buffer, or part of a buffer, to another. (Provided.)
    Copy,
}

/// Returns whether there are kernels for weights of this type.
#[must_use]
pub fn is_known(tensor_type: TensorType) -> bool {
    use TensorType::{BF16, F16, F32, Q4_0, Q8_0};
    matches!(tensor_type, Q8_0 | Q4_0 | F32 | F16 | BF16)
}

impl Which {
    /// Returns the kernel's name in messages, such as `mat_vec of Q8_0`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Add => "add".to_owned(),
            Self::SiluGate => "silu_gate".to_owned(),
            Self::RmsNorm => "rms_norm".to_owned(),
            Self::MatVec(tensor_type) => format!("mat_vec of {tensor_type}"),
            Self::MatMat(tensor_type) => format!("mat_mat of {tensor_type}"),
            Self::Attention => "attention".to_owned(),
            Self::Embed(tensor_type) => format!("embed of {tensor_type}"),
            Self::Rope => "rope".to_owned(),
            Self::AddRow => "add_row".to_owned(),
            Self::Copy => "copy".to_owned(),
        }
    }

    /// Returns the kernel's complete WGSL source and the number of buffers that it reads.
    #[must_use]
    pub fn text(self) -> (String, usize) {
        let product = |tensor_type, main| {
            [mat_vec::BINDINGS, mat_vec::READING, format_of(tensor_type), main].concat()
        };
        match self {
            Self::Add => ([elementwise::BINDINGS, elementwise::add()].concat(), 2),
            Self::SiluGate => ([elementwise::BINDINGS, elementwise::silu_gate()].concat(), 2),
            Self::RmsNorm => ([norm::BINDINGS, norm::rms_norm()].concat(), 2),
            Self::MatVec(tensor_type) => (product(tensor_type, mat_vec::mat_vec()), 2),
            Self::MatMat(tensor_type) => (product(tensor_type, mat_mat::mat_mat()), 2),
            Self::Attention => ([attention::BINDINGS, attention::attention()].concat(), 3),
            Self::Embed(tensor_type) => {
                let text = [formats::EMBED, mat_vec::READING, format_of(tensor_type)];
                (text.concat(), 2)
            }
            Self::Rope => (formats::ROPE.to_owned(), 2),
            Self::AddRow => (formats::ADD_ROW.to_owned(), 2),
            Self::Copy => (formats::COPY.to_owned(), 1),
        }
    }
}

fn format_of(tensor_type: TensorType) -> &'static str {
    match tensor_type {
        TensorType::Q8_0 => mat_vec::q8_0(),
        TensorType::Q4_0 => mat_vec::q4_0(),
        TensorType::F32 => formats::F32,
        TensorType::F16 => formats::F16,
        TensorType::BF16 => formats::BF16,
        other => panic!("{other}: found no kernel for weights of this type"),
    }
}

impl<'a> Kernels<'a> {
    /// Creates the set of kernels. None is compiled yet.
    #[must_use]
    pub fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, compiled: RefCell::default() }
    }

    /// Returns whether a kernel has been compiled.
    #[must_use]
    pub fn is_compiled(&self, which: Which) -> bool {
        self.compiled.borrow().iter().any(|(other, _)| *other == which)
    }

    /// Returns a kernel. Compiles it when it is first requested.
    ///
    /// # Errors
    /// If naga or the device rejects the kernel's source.
    pub fn get(&self, which: Which) -> Result<Arc<Kernel>> {
        if let Some((_, kernel)) = self.compiled.borrow().iter().find(|(other, _)| *other == which)
        {
            return Ok(Arc::clone(kernel));
        }
        let (text, reads) = which.text();
        let kernel = Arc::new(self.gpu.kernel(&which.name(), &text, reads)?);
        self.compiled.borrow_mut().push((which, Arc::clone(&kernel)));
        Ok(kernel)
    }
}
