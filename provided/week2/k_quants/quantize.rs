//! Day 4. Converts a Hugging Face folder or a GGUF file to a GGUF file with other tensor types,
//! tensor by tensor. At any time, only one chunk of encoded rows and one decoded row per thread are
//! in memory.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Result, anyhow, bail, ensure};
use tiny_llm_formats::{
    checkpoint::Checkpoint,
    config::ModelConfig,
    gguf::{DEFAULT_ALIGNMENT, Metadata, Progress, TensorInfo, TensorType, Value, gguf_name},
};

use crate::week1::rope::inverse_frequencies;
use crate::week2::{
    blocks::{dequantize_row, quantize_row},
    gguf::{
        Gguf,
        writer::{head, lay_out},
    },
    load::{Rope, build, stored_matrix},
    matrix::Matrix,
    parallel::Team,
    recipe::{Dimensions, row_order},
    rope::RopeLayout,
    target::{Target, tensor_type_for},
    write_file::write_file,
};

/// Number of weights that are read, encoded and written at once.
const CHUNK: usize = 1 << 22;
/// The largest half-precision number. A block's scale is never larger than the block's largest
/// weight, so weights up to this number are safe.
const MAX_F16: f32 = 65504.0;

/// The model to convert. Its tensors are in mapped files.
pub struct Source {
    /// Path of the folder or file, for error messages.
    file: String,
    /// Metadata, as in a GGUF file.
    pub metadata: Metadata,
    /// Sizes and constants of the model.
    pub config: ModelConfig,
    /// Tensors, in the order in which they are written.
    pub tensors: Vec<SourceTensor>,
}

/// A tensor to be written, under its name in GGUF files.
pub struct SourceTensor {
    /// Name, such as `blk.0.attn_q.weight`.
    pub name: String,
    /// Sizes of the axes, the slowest-varying axis first.
    pub shape: Vec<usize>,
    /// The tensor as a matrix. A vector has one row.
    pub matrix: Matrix,
    /// For each row of the tensor in the new file, the index of that row in `matrix`. `None` if the
    /// order is the same.
    pub order: Option<Vec<usize>>,
}

impl Source {
    /// Maps a Hugging Face folder. `metadata` is the metadata that a GGUF file of this model would
    /// have.
    ///
    /// # Errors
    /// If a file is missing or malformed, or a tensor does not match the configuration.
    pub fn folder(folder: &Path, metadata: Metadata) -> Result<Self> {
        let config = ModelConfig::from_folder(folder)?;
        let checkpoint = Checkpoint::open(folder)?;
        checkpoint.check_names(&config)?;
        let mut tensors = Vec::new();
        let mut each = |name: &str, shape: &[usize]| {
            let matrix = stored_matrix(&checkpoint, name, shape)?;
            let name = gguf_name(name).expect("every tensor of these models has a name");
            let order = row_order(&config, &name);
            tensors.push(SourceTensor {
                name,
                shape: shape.to_vec(),
                matrix: matrix.clone(),
                order,
            });
            Ok(matrix)
        };
        // `build` requests each tensor in turn. The model that it returns, with a context of one
        // token, isn't needed.
        build(
            config.clone(),
            &Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() },
            1,
            &mut each,
        )?;
        if config.rope_scaling.is_some() {
            let plain = inverse_frequencies(config.head_dim, config.rope_theta);
            let scaled = config.scale_frequencies(plain.clone());
            let factors: Vec<f32> =
                plain.iter().zip(scaled).map(|(plain, scaled)| plain / scaled).collect();
            let matrix = Matrix::from_f32(1, factors.len(), &factors);
            tensors.push(SourceTensor {
                name: "rope_freqs.weight".to_owned(),
                shape: vec![factors.len()],
                matrix,
                order: None,
            });
        }
        Ok(Self { file: folder.display().to_string(), metadata, config, tensors })
    }

    /// Maps a GGUF file.
    ///
    /// # Errors
    /// If the file is malformed, or its model isn't one that this engine runs.
    pub fn gguf(path: &Path) -> Result<Self> {
        let gguf = Gguf::open(path)?;
        let config = ModelConfig::from_gguf(&gguf.metadata, &gguf.tensors)?;
        let matrix = |tensor: &TensorInfo| -> Result<SourceTensor> {
            let TensorInfo { name, shape, tensor_type, .. } = tensor;
            let cols = shape.last().copied().unwrap_or(1);
            let rows = shape.iter().rev().skip(1).product();
            let matrix = Matrix::new(rows, cols, *tensor_type, gguf.bytes_of(tensor))?;
            Ok(SourceTensor { name: name.clone(), shape: shape.clone(), matrix, order: None })
        };
        let tensors = gguf.tensors.iter().map(matrix).collect::<Result<_>>()?;
        Ok(Self { file: path.display().to_string(), metadata: gguf.metadata, config, tensors })
    }

    /// Writes the model to `path` and returns the file's tensor table. `override_for(name)` returns
    /// the type of the matrix called `name`. If it returns `None`, the matrix gets the type that
    /// `target` specifies. `progress` is called before each chunk of rows, and may stop the
    /// conversion.
    ///
    /// # Errors
    /// An existing file is unchanged after an error. The errors are:
    /// - The rows of a matrix aren't whole blocks of its type.
    /// - A weight isn't finite, or is too large for its type.
    /// - The file can't be written, or `progress` stops the conversion.
    pub fn write(
        &self,
        path: &Path,
        target: Target,
        override_for: &dyn Fn(&str) -> Option<TensorType>,
        team: &Team,
        progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<TensorInfo>> {
        let types = self.types(target, override_for);
        let mut metadata = self.metadata.clone();
        metadata.insert("general.file_type", Value::U32(target.file_type()));
        metadata.insert("general.quantization_version", Value::U32(2));
        if metadata.get("general.alignment").is_some() {
            metadata.insert("general.alignment", Value::U32(DEFAULT_ALIGNMENT as u32));
        }
        let named = |(tensor, &tensor_type): (&SourceTensor, _)| {
            (tensor.name.clone(), tensor.shape.clone(), tensor_type)
        };
        let table: Vec<_> = self.tensors.iter().zip(&types).map(named).collect();
        let table = lay_out(&table, DEFAULT_ALIGNMENT)?;
        let head = head(&metadata, &table, DEFAULT_ALIGNMENT);
        let total = self.tensors.iter().map(|tensor| tensor.matrix.rows * tensor.matrix.cols).sum();
        let mut done = 0;
        team.enter();
        write_file(path, &head, &table, DEFAULT_ALIGNMENT, |i, out| {
            let (tensor, tensor_type) = (&self.tensors[i], types[i]);
            let cols = tensor.matrix.cols;
            let step = (CHUNK / cols).max(1);
            for start in (0..tensor.matrix.rows).step_by(step) {
                ensure!(
                    progress(&Progress { name: &tensor.name, tensor_type, done, total })
                        .is_continue(),
                    "interrupted"
                );
                let rows = step.min(tensor.matrix.rows - start);
                let bytes = tensor
                    .encode(start, rows, tensor_type, team)
                    .map_err(|e| anyhow!("{}: {e}", self.file))?;
                out.write_all(&bytes)?;
                done += rows * cols;
            }
            Ok(())
        })?;
        Ok(table)
    }

    /// Returns the type that each tensor will have in the new file.
    fn types(
        &self,
        target: Target,
        override_for: &dyn Fn(&str) -> Option<TensorType>,
    ) -> Vec<TensorType> {
        let c = &self.config;
        let dimensions = Dimensions {
            n_layers: c.n_layers,
            group: c.n_heads / c.n_kv_heads,
            tied: c.tie_word_embeddings,
        };
        let of = |tensor: &SourceTensor| {
            let chosen = if tensor.shape.len() == 2 { override_for(&tensor.name) } else { None };
            chosen.unwrap_or_else(|| {
                tensor_type_for(target, &tensor.name, &tensor.shape, &dimensions)
            })
        };
        self.tensors.iter().map(of).collect()
    }
}

impl SourceTensor {
    /// Returns rows `start..start + rows` of the written tensor, encoded as `tensor_type`.
    fn encode(
        &self,
        start: usize,
        rows: usize,
        tensor_type: TensorType,
        team: &Team,
    ) -> Result<Vec<u8>> {
        const NONE: usize = usize::MAX;
        let cols = self.matrix.cols;
        let row_bytes = tensor_type.row_bytes(cols).expect("checked by `lay_out`");
        let mut bytes = vec![0; rows * row_bytes];
        let limit = if tensor_type.block_len() == 1 && tensor_type != TensorType::F16 {
            f32::INFINITY
        } else {
            MAX_F16
        };
        let wrong = AtomicUsize::new(NONE);
        team.parallel_rows(&mut bytes, row_bytes, 4, |r, out| {
            let r = start + r;
            let source = self.matrix.row(self.order.as_ref().map_or(r, |order| order[r]));
            if self.matrix.tensor_type == tensor_type {
                return out.copy_from_slice(source);
            }
            let mut row = vec![0.0; cols];
            dequantize_row(self.matrix.tensor_type, source, &mut row);
            if row.iter().all(|x| x.abs() <= limit) {
                quantize_row(tensor_type, &row, out);
            } else {
                wrong.fetch_min(r, Ordering::Relaxed);
            }
        });
        match wrong.into_inner() {
            NONE => Ok(bytes),
            r => {
                bail!(
                    "tensor {}: found NaN or a weight above {limit} in row {r}, expected weights \
                     that fit into {tensor_type}",
                    self.name
                )
            }
        }
    }
}
