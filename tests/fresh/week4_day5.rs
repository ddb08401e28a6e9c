//! Week 4, day 5, on fresh inputs.

use tiny_llm::week4::gpu::{
    elementwise::dispatch_size,
    kernels::{Kernels, Which},
    record::{DeviceMatrix, product},
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::fresh::Fresh;

use super::{bytes_of, gpu, run, upload};

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day5 task 1");
    for _ in 0..20 {
        let (n, per_group) = (fresh.below(1 << 30), 1 << fresh.below(9));
        fresh.says("workgroups", &dispatch_size(n, per_group).ok());
    }
    let gpu = gpu();
    for which in [Which::Add, Which::SiluGate] {
        let n = fresh.from_to(1, 500);
        let [a, b] = [0; 2].map(|_| upload(&gpu, &fresh.f32s(n)));
        let groups = [n.div_ceil(64) as u32, 1, 1];
        let found = run(&gpu, n + 80, which, &[n as u32], &[&a, &b], groups);
        fresh.answers(&which.name(), &found, 1e-4);
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day5 task 2");
    let gpu = gpu();
    for _ in 0..3 {
        let (rows, width) = (fresh.from_to(1, 5), fresh.from_to(1, 300));
        let (x, weight) = (upload(&gpu, &fresh.f32s(rows * width)), fresh.f32s(width));
        let weight = upload(&gpu, &weight);
        let sizes = [width as u32, rows as u32, 1e-5f32.to_bits()];
        let groups = [rows as u32, 1, 1];
        let found = run(&gpu, rows * width, Which::RmsNorm, &sizes, &[&x, &weight], groups);
        fresh.answers("norms", &found, 1e-4);
    }
}

/// Returns the rows and columns of a random matrix, and its blocks, whose scales are 1/16.
fn drawn(fresh: &Fresh, tensor_type: TensorType) -> (usize, usize, Vec<u8>) {
    let (rows, blocks) = (fresh.from_to(1, 20), fresh.from_to(1, 5));
    let bytes = tensor_type.block_bytes();
    let block = |_| [vec![0x00, 0x2c], fresh.bytes(bytes - 2)].concat();
    (rows, 32 * blocks, (0..rows * blocks).flat_map(block).collect())
}

fn products(fresh: &Fresh, of: impl Fn(TensorType) -> Which, tile: usize) {
    let gpu = gpu();
    for tensor_type in [TensorType::Q8_0, TensorType::Q4_0] {
        let (rows, k, bytes) = drawn(fresh, tensor_type);
        let columns = fresh.from_to(1, 20);
        let x = upload(&gpu, &fresh.f32s(columns * k));
        let words = gpu.upload(&bytes).expect("an upload");
        let sizes = [k, rows, columns].map(|n| n as u32);
        let groups = match tile {
            1 => [rows as u32, 1, columns as u32],
            n => [rows.div_ceil(n) as u32, columns.div_ceil(n) as u32, 1],
        };
        let which = of(tensor_type);
        let found = run(&gpu, rows * columns, which, &sizes, &[&words, &x], groups);
        fresh.answers(&which.name(), &found, 5e-2);
    }
}

#[test]
fn task_3() {
    products(&Fresh::new("week4-day5 task 3"), Which::MatVec, 1);
}

#[test]
fn task_4() {
    products(&Fresh::new("week4-day5 task 4"), Which::MatMat, 16);
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week4-day5 task 5");
    let gpu = gpu();
    for _ in 0..3 {
        let (rows, kv_heads, group) =
            (fresh.from_to(1, 3), fresh.from_to(1, 2), fresh.from_to(1, 3));
        let (d, first) = (fresh.from_to(1, 90), fresh.below(150));
        let heads = kv_heads * group;
        let q = upload(&gpu, &fresh.f32s(rows * heads * d));
        let [k, v] = [0; 2].map(|_| upload(&gpu, &fresh.f32s((first + rows) * kv_heads * d)));
        let sizes = [rows, heads, kv_heads, d, first].map(|n| n as u32);
        let sizes = [&sizes[..], &[0.3f32.to_bits()]].concat();
        let groups = [heads as u32, rows as u32, 1];
        let n = rows * heads * d;
        let found = run(&gpu, n, Which::Attention, &sizes, &[&q, &k, &v], groups);
        fresh.answers("attention", &found, 1e-3);
    }
}

#[test]
fn task_6() {
    let fresh = Fresh::new("week4-day5 task 6");
    let gpu = gpu();
    let kernels = Kernels::new(&gpu);
    for columns in [1, 4, 5, 18] {
        let (rows, k, bytes) = drawn(&fresh, TensorType::Q8_0);
        let bytes = gpu.upload(&bytes).expect("an upload");
        let weight = DeviceMatrix { tensor_type: TensorType::Q8_0, rows, k, bytes };
        let x = upload(&gpu, &fresh.f32s(columns * k));
        let result = gpu.upload(bytes_of(&vec![0.0; rows * columns])).expect("an upload");
        let mut pass = gpu.pass();
        product(&mut pass, &kernels, &weight, &x, columns, &result).expect("a product");
        pass.submit().expect("a submission");
        fresh.answers("a product", &gpu.numbers(&result).expect("numbers"), 5e-2);
    }
}
