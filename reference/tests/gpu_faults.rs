//! Checks the errors of a GPU that is lost or out of memory. Each is one line with the backend, the
//! node, its operation and sizes, and the bytes. Nothing panics or hangs.
#![cfg(feature = "gpu")]

use tiny_llm_formats::{bytes::Bytes, gguf::TensorType};
use tiny_llm_gpu::{Gpu, Needs};
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::Rung,
        matrix::Matrix,
        model::Model,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week4::{
        engine::GraphEngine, gpu::backend::GpuBackend, graph::Graph, placement::Wishes,
        scheduler::Scheduler,
    },
};

#[path = "parts/llama.rs"]
mod llama;
use llama::llama;

/// Opens a device whose buffers have at most `buffer_bytes` bytes. Prints why if it cannot.
fn gpu(buffer_bytes: u64) -> Option<&'static Gpu> {
    let opened = Gpu::open_for(&Needs { buffer_bytes, ..Needs::default() });
    let gpu = opened.inspect_err(|why| println!("not verified: {why:#}")).ok()?;
    Some(Box::leak(Box::new(gpu)))
}

/// Returns a model of two layers whose matrices are zeros.
fn model() -> Model {
    llama("llama", [64, 96, 2, 2, 1, 32, 40], |rows, cols| {
        let bytes = rows * TensorType::Q8_0.row_bytes(cols).expect("whole blocks");
        let zeros = Bytes::from(vec![0; bytes]);
        Matrix::new(rows, cols, TensorType::Q8_0, zeros).expect("a matrix")
    })
}

/// A model on a device, and the position of the next row that it runs.
struct Run {
    model: Model,
    engine: GraphEngine,
    cache: DenseCache,
    plan: Plan,
    position: usize,
}

impl Run {
    fn on(gpu: &'static Gpu, capacity: usize) -> Self {
        let shape = CacheShape { layers: 2, sequences: 1, kv_heads: 1, capacity, head_dim: 32 };
        let scheduler = Scheduler::new(vec![Box::new(GpuBackend::on(gpu))]);
        Self {
            model: model(),
            engine: GraphEngine::on(scheduler, Wishes::default()),
            cache: DenseCache::new(shape, CacheType::F32),
            plan: Plan {
                kernels: Rung::Naive.into(),
                attention: AttentionKind::TwoPass,
                team: Team::new(1),
            },
            position: 0,
        }
    }

    /// Runs the next `n` rows. Returns the text of any error.
    fn rows(&mut self, n: usize) -> Result<(), String> {
        let row = |i: usize| Row {
            token: (i % 40) as u32,
            position: self.position + i,
            sequence: 0,
            logits: i + 1 == n,
        };
        let rows: Vec<Row> = (0..n).map(row).collect();
        let logits = self.engine.forward(&self.model, &rows, &mut self.cache, &self.plan);
        logits.map_err(|error| format!("{error:#}"))?;
        self.position += n;
        Ok(())
    }
}

/// Checks that `error` is one line that contains all of `parts`.
fn names(error: &Result<(), String>, parts: &[&str]) {
    let text = error.as_ref().expect_err("it has to be refused");
    println!("{text}");
    assert!(!text.contains('\n'), "{text}");
    for part in parts {
        assert!(text.contains(part), "{text}: expected {part:?} in it");
    }
}

#[test]
fn forward_on_a_lost_device_is_an_error() {
    let Some(gpu) = gpu(u64::MAX) else { return };
    let mut run = Run::on(gpu, 64);
    run.rows(3).expect("a prompt");
    run.rows(1).expect("a token");
    gpu.give_up();
    let lost = ["gpu: ", "the device is lost", &gpu.about().to_string()];
    // A graph that was already prepared, twice, then a graph that must be built.
    let node = ["embed of node 0 (weight, Q8_0 [64, 40, 1, 1])"];
    names(&run.rows(1), &[&lost[..], &node[..]].concat());
    names(&run.rows(1), &[&lost[..], &node[..]].concat());
    names(&run.rows(2), &lost);
}

#[test]
fn out_of_memory_names_the_node_and_the_bytes() {
    let Some(gpu) = gpu(1 << 12) else { return };
    // 64 rows of two blocks of 34 bytes.
    let weight = ["mul_mat of node", "Q8_0 [64, 64", "4352 bytes, at most 4096 fit"];
    names(&Run::on(gpu, 16).rows(1), &[&["gpu: "][..], &weight[..]].concat());
    let Some(gpu) = self::gpu(1 << 14) else { return };
    let mut run = Run::on(gpu, 16);
    run.rows(1).expect("one row fits");
    let arena = [
        "gpu: cannot allocate an arena of ",
        "(largest node: ",
        "out of memory",
        "at most 16384 fit",
    ];
    names(&run.rows(15), &arena);
    // 256 positions of 32 numbers: 32,768 bytes of keys.
    let cache = ["gpu: store of node", "[32, 1, 1, 1]", "32768 bytes, at most 16384 fit"];
    names(&Run::on(gpu, 256).rows(1), &cache);
}

#[test]
fn prepare_on_a_lost_device_is_an_error() {
    let Some(gpu) = gpu(u64::MAX) else { return };
    let mut g = Graph::default();
    let table = g.weight(&Matrix::from_f32(10, 64, &vec![1.0; 640])).expect("a table");
    let tokens = g.tokens(4).expect("four tokens");
    let x = g.embed(table, tokens).expect("rows");
    let x = g.rms_norm(x, &[1.0; 64], 1e-5).expect("a norm");
    let order = g.order(&[x]);
    let mut scheduler = Scheduler::new(vec![Box::new(GpuBackend::on(gpu))]);
    gpu.give_up();
    let ready = scheduler.prepare(&g, &order, &[x], &Wishes::default());
    let error = ready.map(drop).map_err(|error| format!("{error:#}"));
    names(&error, &["gpu: embed of node 0 (weight, F32 [64, 10, 1, 1])", "the device is lost"]);
}
