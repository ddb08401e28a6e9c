//! Writes and reads day 7's file on a machine with a file system.

use std::{
    f64::consts::PI,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use tiny_llm_formats::{checkpoint::Checkpoint, config::ModelConfig, unfinished::Unfinished};

use crate::week1::weights::to_f32;
use crate::week4::streamed::{
    int8::quantize_int8,
    shape::{Component, Shape},
    storage::Storage,
};

/// A file that plays the role of the SD card.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    len: u64,
}

impl FileStorage {
    /// Opens the file, without reading it.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || {
            let file = File::open(path)?;
            let len = file.metadata()?.len();
            std::io::Result::Ok(Self { file, len })
        };
        open().with_context(|| format!("{}: cannot be read", path.display()))
    }
}

impl Storage for FileStorage {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32> {
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read(out));
        read.map_err(|error| error.raw_os_error().unwrap_or(-1))
    }
}

/// Returns the sizes of a model with this configuration. `vocabulary` is the number of rows of the
/// embedding and of the head, including padding. If it is `None`, there is no padding.
///
/// # Errors
/// If the model can't be streamed. The message names the property that prevents it.
pub fn shape_of(config: &ModelConfig, vocabulary: Option<usize>) -> Result<Shape> {
    ensure!(config.n_layers == 1, "num_hidden_layers: found {}, expected 1", config.n_layers);
    ensure!(
        !config.qk_norm && !config.qkv_bias && !config.o_bias,
        "model_type: found {:?} with biases or head norms, expected a Llama model without them",
        config.family
    );
    ensure!(config.rope_scaling.is_none(), "rope_scaling: not supported for a streamed model");
    let tokens = config.vocab_size;
    let vocabulary = vocabulary.unwrap_or(tokens);
    ensure!(
        tokens <= vocabulary && vocabulary <= 1 << 20,
        "rows of the vocabulary: found {vocabulary}, expected {tokens} (one per token) \
         to 2^20"
    );
    Ok(Shape {
        vocabulary,
        tokens,
        hidden: config.hidden_size,
        heads: config.n_heads,
        kv_heads: config.n_kv_heads,
        head_dim: config.head_dim,
        intermediate: config.intermediate_size,
        positions: config.max_positions,
        eps: config.rms_norm_eps,
    })
}

/// Converts the model in `folder` to the format of a streamed model, and writes it to `output`. If
/// `vocabulary` is given, pads the embedding and the head with zeros to that many rows.
///
/// # Errors
/// If the model can't be streamed, or the file can't be written. An existing file is then
/// unchanged.
pub fn pack(folder: &Path, vocabulary: Option<usize>, output: &Path) -> Result<Shape> {
    let config = ModelConfig::from_folder(folder)?;
    let shape = shape_of(&config, vocabulary)
        .with_context(|| folder.join("config.json").display().to_string())?;
    let checkpoint = Checkpoint::open(folder)?;
    checkpoint.check_names(&config)?;
    let unfinished = Unfinished::new(output)?;
    let mut file = std::io::BufWriter::new(File::create(unfinished.path())?);
    write(&shape, &mut file, &mut |part| match name_of(part, config.tie_word_embeddings) {
        None => Ok(angles(shape.positions, shape.head_dim, config.rope_theta)),
        Some(name) => {
            let (rows, cols) = shape.size(part);
            let is_table = matches!(part, Component::Embedding | Component::Head);
            let rows = if is_table { shape.tokens } else { rows };
            let size = if part.is_matrix() { vec![rows, cols] } else { vec![cols] };
            let weights = to_f32(&checkpoint.tensor(name, &size)?)?;
            ensure!(
                weights.iter().all(|x| x.is_finite()),
                "{name}: found a weight that is NaN or infinite"
            );
            Ok(weights.into_iter().collect())
        }
    })?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    unfinished.finish()?;
    Ok(shape)
}

/// Writes the file of a model with this shape. `weights` returns the elements of a component, row
/// by row. If it returns too few, the rest of the component is 0.
///
/// # Errors
/// Returns the errors of `weights` and of writing.
pub fn write(
    shape: &Shape,
    file: &mut impl Write,
    weights: &mut dyn FnMut(Component) -> Result<Vec<f32>>,
) -> Result<()> {
    file.write_all(&shape.header())?;
    for part in Component::ALL {
        let (rows, cols) = shape.size(part);
        let mut numbers = weights(part)?;
        numbers.resize(rows * cols, 0.0);
        let mut row = vec![0i8; cols];
        for numbers in numbers.chunks_exact(cols) {
            if part.is_matrix() {
                let scale = quantize_int8(numbers, &mut row);
                file.write_all(&scale.to_le_bytes())?;
                file.write_all(bytemuck::cast_slice(&row))?;
            } else {
                let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
                file.write_all(&bytes)?;
            }
        }
    }
    Ok(())
}

/// Returns the cosines and sines of the RoPE angles: for each position, `dim / 2` cosines, then
/// `dim / 2` sines.
fn angles(positions: usize, dim: usize, theta: f32) -> Vec<f32> {
    let mut turns = Vec::with_capacity(positions * dim);
    for position in 0..positions {
        let angle = |i: usize| {
            let frequency = f64::from(theta).powf(-2.0 * i as f64 / dim as f64);
            (position as f64 * frequency) % (2.0 * PI)
        };
        turns.extend((0..dim / 2).map(|i| angle(i).cos() as f32));
        turns.extend((0..dim / 2).map(|i| angle(i).sin() as f32));
    }
    turns
}

/// Returns the name of a component's tensor in a model folder. Returns `None` for the RoPE angles,
/// which a folder doesn't have. If `tied` is true, the head's tensor is the embedding.
fn name_of(part: Component, tied: bool) -> Option<&'static str> {
    Some(match part {
        Component::Embedding => "model.embed_tokens.weight",
        Component::Rope => return None,
        Component::AttentionNorm => "model.layers.0.input_layernorm.weight",
        Component::Query => "model.layers.0.self_attn.q_proj.weight",
        Component::Key => "model.layers.0.self_attn.k_proj.weight",
        Component::Value => "model.layers.0.self_attn.v_proj.weight",
        Component::Output => "model.layers.0.self_attn.o_proj.weight",
        Component::MlpNorm => "model.layers.0.post_attention_layernorm.weight",
        Component::Gate => "model.layers.0.mlp.gate_proj.weight",
        Component::Up => "model.layers.0.mlp.up_proj.weight",
        Component::Down => "model.layers.0.mlp.down_proj.weight",
        Component::FinalNorm => "model.norm.weight",
        Component::Head if tied => "model.embed_tokens.weight",
        Component::Head => "lm_head.weight",
    })
}
