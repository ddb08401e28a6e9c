//! Counts the jobs of a forward pass. Each job ends with a barrier, which costs a small model more
//! time than the threads save.

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::week2::{
    cache::{CacheShape, CacheType, DenseCache},
    kernels::{Choice, Rung},
    matrix::Matrix,
    model::{Model, Workspace},
    parallel::Team,
    plan::{AttentionKind, Plan},
    rows::Row,
};

#[path = "../parts/random_blocks.rs"]
mod random_blocks;
use random_blocks::matrix;

use crate::llama::llama;

/// Returns a model of SmolLM2-360M's sizes, except for layers and vocabulary.
fn model(layers: usize) -> Model {
    llama("llama", [960, 2560, layers, 15, 5, 64, 64], |rows, cols| {
        matrix(TensorType::Q4_0, rows, cols, || 7)
    })
}

/// Returns the number of jobs in one pass with a row for each of `rows` sequences.
fn jobs(model: &Model, rows: usize) -> u64 {
    let layers = model.layers.len();
    let shape = CacheShape { layers, sequences: 16, kv_heads: 5, capacity: 8, head_dim: 64 };
    let (mut cache, mut work) = (DenseCache::new(shape, CacheType::F16), Workspace::default());
    let plan = Plan {
        kernels: Choice::new(|_| Rung::best()),
        attention: AttentionKind::Streaming,
        team: Team::new(2),
    };
    let row = |sequence| Row { token: 7, position: 0, sequence, logits: true };
    let rows: Vec<Row> = (0..rows).map(row).collect();
    model.forward(&rows, &mut cache, &plan, &mut work);
    plan.team.jobs()
}

/// With one job per matrix, and one more to quantize each input that has several rows, a layer
/// would need 8, 12, 12 and 19 jobs for the four numbers of rows below.
#[test]
fn a_layer_has_few_barriers() {
    let (one, two) = (model(1), model(2));
    let per_layer = |rows| jobs(&two, rows) - jobs(&one, rows);
    assert_eq!([1, 4, 8, 16].map(per_layer), [5, 6, 9, 16]);
}
