//! Week 4, day 5, task 6: several kernels, one submission.

use std::path::Path;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::Rung,
        load::load_folder,
        model::Workspace,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week4::{
        engine::GraphEngine,
        gpu::{
            backend::GpuBackend,
            kernels::{Kernels, Which},
            record::{DeviceMlp, MANY, MlpBuffers, mlp, product},
        },
        placement::Wishes,
        scheduler::Scheduler,
    },
};
use tiny_llm_formats::{gguf::TensorType, tensor::tensor};
use tiny_llm_gpu::Gpu;
use tiny_llm_harness::{
    check::{assert_close, resting_on},
    fixtures::{Case, Fixtures},
    messages::assert_good,
};

use super::{
    DISPATCH, ELEMENTWISE, MAT_MAT, MAT_VEC, NORM, UNTOUCHED, bytes_of, each, gpu, matrix, type_of,
    upload,
};

const PARTS: [&tiny_llm_harness::check::Part; 5] = [DISPATCH, ELEMENTWISE, NORM, MAT_VEC, MAT_MAT];

/// Runs a case's MLP on its first `rows` rows. Returns the output, the number of kernels, and the
/// number of submissions by `mlp`.
fn through(gpu: &Gpu, case: &Case, rows: usize) -> (Vec<f32>, usize, usize) {
    let [e, inner] = ["e", "inner"].map(|name| case.count(name));
    let weights = DeviceMlp {
        norm: upload(gpu, &case.numbers("norm")),
        eps: case.scalar("eps") as f32,
        gate: matrix(gpu, case, "gate", (TensorType::Q8_0, inner, e)),
        up: matrix(gpu, case, "up", (TensorType::Q4_0, inner, e)),
        down: matrix(gpu, case, "down", (TensorType::Q8_0, e, inner)),
    };
    let room = |n: usize| assert_good("a buffer", || gpu.upload(bytes_of(&vec![UNTOUCHED; n])));
    let buffers = MlpBuffers {
        x: upload(gpu, &case.numbers("x")[..rows * e]),
        normed: room(rows * e),
        gate: room(rows * inner),
        up: room(rows * inner),
        gated: room(rows * inner),
        down: room(rows * e),
        out: room(rows * e),
    };
    let kernels = Kernels::new(gpu);
    let before = gpu.submissions();
    let mut pass = gpu.pass();
    assert_good("mlp", || mlp(&mut pass, &kernels, &weights, &buffers, rows));
    let (recorded, own) = (pass.kernels(), gpu.submissions() - before);
    assert_good("a submission", || pass.submit());
    let found = assert_good("reading the result of mlp", || gpu.numbers(&buffers.out));
    (found, recorded, own)
}

#[test]
fn task_6_mlp_runs_six_kernels_in_one_submission() {
    let case = Fixtures::open("week4_day5").case("task_6_mlp/mixed");
    resting_on(&PARTS, || {
        let (e, expected) = (case.count("e"), case.numbers("output"));
        for rows in [7, 1, 3] {
            let (found, recorded, own) = through(&gpu(), &case, rows);
            let what = format!("{}: {rows} rows", case.name());
            assert!(recorded == 6, "{what}: found {recorded} kernels recorded, expected 6");
            assert!(own == 0, "{what}: found {own} submissions by mlp itself, expected none");
            let expected = tensor(&[rows, e], expected[..rows * e].to_vec());
            assert_close(&what, &tensor(&[rows, e], found), &expected, case.tolerance("output"));
        }
    });
}

/// The number of columns goes from one to more than a tile has. Each kernel is used where it should
/// be, and both return the same numbers.
#[test]
fn task_6_product_chooses_the_kernel_by_column_count() {
    resting_on(&PARTS, || {
        each("task_4_mat_mat/q8_0_edges", |case| {
            let gpu = gpu();
            let [rows, k] = ["rows", "k"].map(|name| case.count(name));
            let weight = matrix(&gpu, case, "words", (type_of(case), rows, k));
            let (x, expected) = (upload(&gpu, &case.numbers("x")), case.numbers("output"));
            for columns in [1, MANY - 1, MANY, 16, 17] {
                let kernels = Kernels::new(&gpu);
                let room = vec![UNTOUCHED; rows * columns];
                let result = assert_good("a buffer", || gpu.upload(bytes_of(&room)));
                let mut pass = gpu.pass();
                assert_good("product", || {
                    product(&mut pass, &kernels, &weight, &x, columns, &result)
                });
                assert_good("a submission", || pass.submit());
                let found = assert_good("the product", || gpu.numbers(&result));
                let what = format!("a product of {columns} columns");
                let shape = [columns, rows];
                let expected = tensor(&shape, expected[..rows * columns].to_vec());
                assert_close(&what, &tensor(&shape, found), &expected, case.tolerance("output"));
                let few = kernels.is_compiled(Which::MatVec(type_of(case)));
                let many = kernels.is_compiled(Which::MatMat(type_of(case)));
                assert!(
                    (few, many) == (columns < MANY, columns >= MANY),
                    "{what}: compiled kernels: mat_vec {few}, mat_mat {many}; expected mat_mat \
                     from {MANY} columns on"
                );
            }
        });
    });
}

/// Runs the course's model on the device alone: week 2's tokens, and one submission per pass.
#[test]
fn task_6_model_matches_week_2_in_one_submission_per_pass() {
    let before = gpu();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    let model = load_folder(&model, 64).expect("the model that comes with the course");
    let shape = CacheShape::of(&model.config, 1, 64);
    let [mut ours, mut theirs] = [0; 2].map(|_| DenseCache::new(shape, CacheType::F32));
    let plan =
        Plan { kernels: Rung::Naive.into(), attention: AttentionKind::TwoPass, team: Team::new(2) };
    drop(before);
    resting_on(&PARTS, || {
        let backend = assert_good("the device", GpuBackend::open);
        let scheduler = Scheduler::new(vec![Box::new(backend)]);
        let mut engine = GraphEngine::on(scheduler, Wishes::default());
        let (mut work, mut position) = (Workspace::default(), 0);
        let mut next = vec![5, 300, 77, 1000, 9, 12, 800];
        for _ in 0..3 {
            let n = next.len();
            let row = |(i, &token): (usize, &u32)| Row {
                token,
                position: position + i,
                sequence: 0,
                logits: i + 1 == n,
            };
            let rows: Vec<Row> = next.iter().enumerate().map(row).collect();
            let what = format!("{n} rows from position {position} on");
            let submissions = Gpu::shared().map_or(0, Gpu::submissions);
            let found = assert_good(&what, || {
                engine.forward(&model, &rows, &mut ours, &plan).map(<[f32]>::to_vec)
            });
            let submissions = Gpu::shared().map_or(0, Gpu::submissions) - submissions;
            let expected = model.forward(&rows, &mut theirs, &plan, &mut work);
            assert!(submissions == 1, "{what}: found {submissions} submissions, expected one");
            let [size, far] = [expected.iter().map(|x| x.abs()).fold(0.0, f32::max), {
                let apart = found.iter().zip(expected).map(|(x, y)| (x - y).abs());
                apart.fold(0.0, |far: f32, x| if x.is_nan() { x } else { far.max(x) })
            }];
            assert!(
                far <= 1e-3 * size,
                "{what}: logits differ by {far} from week 2's, which are up to {size}; expected \
                 only rounding errors"
            );
            let best = |logits: &[f32]| {
                let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
                best.unwrap_or_default() as u32
            };
            assert!(best(&found) == best(expected), "{what}: the best token differs from week 2's");
            position += n;
            next = vec![best(expected)];
        }
    });
}
