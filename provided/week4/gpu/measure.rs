//! Day 5. Measures the device's memory bandwidth and the speed of several kernels.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_gpu::{Gpu, Kernel, Pass};

use crate::week4::gpu::{
    elementwise::{THREADS, dispatch_size},
    kernels::{Kernels, Which},
    record::{DeviceMatrix, product},
};

/// Reads each of `n` elements once, and writes one sum per thread.
const READ: &str = "
struct Sizes { n: u32, threads: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = vec4<f32>();
    for (var i = id.x; i < sizes.n / 4u; i += sizes.threads) {
        sum += x[i];
    }
    result[id.x] = sum.x + sum.y + sum.z + sum.w;
}
";

/// Speed of one kernel.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name of the kernel and size of its input.
    pub what: String,
    /// Bytes read per second. For a product, only the weights count.
    pub bytes: f64,
    /// Multiply-adds per second.
    pub multiply_adds: f64,
}

/// Minimum total time of each kernel's repeated runs.
const TIME: Duration = Duration::from_millis(400);

/// Measures the device's memory bandwidth, then the speed of several kernels. The kernels multiply
/// a Q8_0 and a Q4_0 matrix by 1 column and by 64 columns, and add two vectors.
///
/// # Errors
/// If the device is lost or its memory is too small.
pub fn measure(gpu: &Gpu) -> Result<Vec<Measured>> {
    let kernels = Kernels::new(gpu);
    let mut all = vec![reading(gpu)?];
    let side = 2048;
    for tensor_type in [TensorType::Q8_0, TensorType::Q4_0] {
        let bytes = side * side / 32 * tensor_type.block_bytes();
        let weight = DeviceMatrix {
            tensor_type,
            rows: side,
            k: side,
            bytes: gpu.upload(&vec![0x11; bytes])?,
        };
        for columns in [1, 64] {
            let x = gpu.buffer(4 * side * columns)?;
            let result = gpu.buffer(4 * side * columns)?;
            let seconds =
                timed(gpu, |pass| product(pass, &kernels, &weight, &x, columns, &result))?;
            all.push(Measured {
                what: format!("{tensor_type}, {side} × {side}, {columns} columns"),
                bytes: bytes as f64 / seconds,
                multiply_adds: (side * side * columns) as f64 / seconds,
            });
        }
    }
    let n = 1 << 22;
    let [a, b, out] = [gpu.buffer(4 * n)?, gpu.buffer(4 * n)?, gpu.buffer(4 * n)?];
    let add = kernels.get(Which::Add)?;
    let groups = dispatch_size(n, THREADS)?;
    let seconds = timed(gpu, |pass| pass.run(&add, &[n as u32], &[&a, &b], &out, groups))?;
    let what = format!("sum of two vectors of {n} numbers");
    all.push(Measured { what, bytes: (8 * n) as f64 / seconds, multiply_adds: 0.0 });
    Ok(all)
}

fn reading(gpu: &Gpu) -> Result<Measured> {
    let n: usize = 1 << 24;
    let (x, result) = (gpu.buffer(4 * n)?, gpu.buffer(4 << 16)?);
    let kernel: Kernel = gpu.kernel("reading", READ, 1)?;
    let sizes = [n as u32, 1 << 16];
    let seconds = timed(gpu, |pass| pass.run(&kernel, &sizes, &[&x], &result, [1 << 10, 1, 1]))?;
    let what = format!("reading {} MB", (4 * n) >> 20);
    Ok(Measured { what, bytes: (4 * n) as f64 / seconds, multiply_adds: 0.0 })
}

/// Runs the commands that `record` records. Returns the time of one run in seconds: the shortest of
/// several measurements, each of which is the mean of several runs.
fn timed(gpu: &Gpu, record: impl Fn(&mut Pass<'_>) -> Result<()>) -> Result<f64> {
    let run = |times: usize| -> Result<f64> {
        let start = Instant::now();
        let mut pass = gpu.pass();
        for _ in 0..times {
            record(&mut pass)?;
        }
        pass.submit()?;
        gpu.wait()?;
        Ok(start.elapsed().as_secs_f64())
    };
    run(1)?;
    let once = run(1)?;
    let times = (TIME.as_secs_f64() / 4.0 / once).clamp(1.0, 200.0) as usize;
    let (mut best, start) = (f64::INFINITY, Instant::now());
    while start.elapsed() < TIME {
        best = best.min(run(times)? / times as f64);
    }
    ensure!(best.is_finite(), "the device could not be timed");
    Ok(best)
}
