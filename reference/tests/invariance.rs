//! Checks batch invariance: the result of a row is the same, to the last bit, alone and together
//! with any number of other rows, on any number of threads.
#![cfg(feature = "engine")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::week2::{
    cache::{CacheShape, CacheType, Cells, DenseCache, Run},
    input::{BLOCK, Input, SUPER_BLOCK},
    kernels::{Choice, Rung, matmul_alike, quantize, repack, vector},
    matrix::Matrix,
    model::{Model, Workspace},
    parallel::Team,
    plan::{AttentionKind, Plan},
    rows::Row,
    streaming::{Query, attend_block, attend_streaming},
};

#[path = "parts/llama.rs"]
mod llama;
use llama::llama;

#[path = "parts/random_blocks.rs"]
mod random_blocks;
use random_blocks::{Random, matrix};

/// The tested numbers of rows in a batch.
const BATCHES: [usize; 10] = [1, 2, 3, 4, 5, 8, 16, 17, 33, MOST];
/// Maximum number of rows in a batch. The AVX2 kernels keep the sums of fewer rows at a time.
const MOST: usize = 67;

/// Returns the product of `weight` with the rows of `x`. Quantizes `x` if the rung needs integers.
fn product(rung: Rung, team: &Team, weight: &Matrix, x: &[f32], width: usize) -> Vec<f32> {
    let rows = x.len() / weight.cols;
    let mut input = Input::default();
    input.resize(rows, weight.cols);
    input.values.copy_from_slice(x);
    let mut out = vec![f32::NAN; rows * weight.rows];
    let prepared = if rung.wants_int8() {
        quantize(rung, team, &mut input, width)
    } else {
        input.without_int8()
    };
    matmul_alike(rung, team, weight, prepared, &mut out);
    out
}

/// Compares batches with each row alone, with plain and repacked weights. Returns where they
/// differ.
fn check(weight: &Matrix, x: &[f32], what: &str) -> Vec<String> {
    let teams = [Team::new(1), Team::new(2)];
    let mut wrong = Vec::new();
    let tensor_type = weight.tensor_type;
    for rung in Rung::available() {
        // The same weights in another `Matrix`, so that the first one isn't repacked.
        let repacked = weight.split(1).unwrap().remove(0);
        repack::repack(&teams[1], &[&repacked], |_| rung).unwrap();
        // The slow rungs compute row by row, so a few rows on two threads are enough.
        let slow = rung <= Rung::Integer;
        let most = if slow { 4 } else { MOST };
        for width in
            [BLOCK, SUPER_BLOCK].into_iter().filter(|&width| width >= tensor_type.block_len())
        {
            let alone: Vec<Vec<f32>> = x
                .chunks_exact(weight.cols)
                .take(most)
                .map(|row| product(rung, &teams[0], weight, row, width))
                .collect();
            let differs = |weight: &Matrix, size: usize, team: &Team| {
                let together = product(rung, team, weight, &x[..size * weight.cols], width);
                let rows = together.chunks_exact(weight.rows).zip(&alone);
                rows.flat_map(|(row, alone)| row.iter().zip(alone))
                    .any(|(a, b)| a.to_bits() != b.to_bits())
            };
            for team in if slow { &teams[1..] } else { &teams[..] } {
                let few = BATCHES.into_iter().filter(|&size| size <= most);
                let bad: Vec<usize> = few
                    .filter(|&size| differs(weight, size, team) || differs(&repacked, size, team))
                    .collect();
                if !bad.is_empty() {
                    wrong.push(format!(
                        "{rung}, {tensor_type}, {what}, [{}, {}], a scale for each {width}, {} \
                         threads: {bad:?} rows together",
                        weight.rows,
                        weight.cols,
                        team.threads()
                    ));
                }
            }
        }
    }
    wrong
}

fn for_each(
    shapes: &[(usize, usize)],
    mut check: impl FnMut(TensorType, usize, usize) -> Vec<String>,
) {
    let mut wrong = Vec::new();
    for tensor_type in TensorType::READ {
        for &(rows, cols) in shapes {
            if tensor_type.row_bytes(cols).is_some() {
                wrong.extend(check(tensor_type, rows, cols));
            }
        }
    }
    assert!(wrong.is_empty(), "rows that depend on the other rows:\n{}", wrong.join("\n"));
}

#[test]
fn matmul_of_a_row_is_independent_of_the_batch() {
    let mut random = Random(1);
    for_each(
        &[
            (37, 32),
            (5, 96),
            (37, 256),
            (9, 288),
            (9, 576),
            (66, 288),
            (9, 960),
            (9, 1024),
            (5, 4192),
            (8, 288),
            (16, 288),
            (72, 768),
            (80, 960),
            (112, 1024),
        ],
        |tensor_type, rows, cols| {
            let weight = matrix(tensor_type, rows, cols, || random.next() as u8);
            let x: Vec<f32> = (0..MOST * cols).map(|_| random.signed()).collect();
            check(&weight, &x, "random bytes")
        },
    );
}

#[test]
fn matmul_of_large_sums_is_independent_of_the_batch() {
    for_each(&[(6, 256), (16, 1024)], |tensor_type, rows, cols| {
        let mut random = Random(2);
        let mut wrong = Vec::new();
        // The sums of these products need more bits than a float has.
        for mask in [0u8, 0x11, 0x80, 0x88] {
            let weight = matrix(tensor_type, rows, cols, || !(random.next() as u8 & mask));
            let one_sign = |i: usize| if i % 61 == 7 { 0.97 } else { 1.0 };
            let x: Vec<f32> = (0..MOST * cols).map(one_sign).collect();
            wrong.extend(check(&weight, &x, "large codes"));
            let minus: Vec<f32> = x.iter().map(|x| -x).collect();
            wrong.extend(check(&weight, &minus, "large codes, negative activations"));
        }
        let weight = matrix(tensor_type, rows, cols, || 0x80 | random.next() as u8 & 1);
        let x: Vec<f32> = (0..MOST * cols).map(|i| if i % 5 == 1 { 0.99 } else { 1.0 }).collect();
        wrong.extend(check(&weight, &x, "the most negative codes"));
        wrong
    });
}

/// Locks the choice of the vector unit for norms and attention, one setting for the whole process.
fn rung_in_use() -> MutexGuard<'static, ()> {
    static IN_USE: Mutex<()> = Mutex::new(());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a model of two layers. Its matrices have the types `types` in turn. The heads have 40
/// numbers, which is no multiple of a vector, or 64 if a type has blocks of more than 32.
fn model(types: &[TensorType]) -> Model {
    // Blocks of 256 weights need rows of a multiple of 256.
    let head_dim = if types.iter().any(|one| one.block_len() > 32) { 64 } else { 40 };
    let (mut random, mut number) = (Random(5), 0);
    llama("llama", [256, 512, 2, 8, 2, head_dim, 50], |rows, cols| {
        number += 1;
        matrix(types[number % types.len()], rows, cols, || random.next() as u8)
    })
}

const POSITIONS: usize = 45;
const SEQUENCES: usize = 16;

/// Runs `passes`, and returns the logits of each position of the first sequence.
fn logits(model: &Model, plan: &Plan, cache_type: CacheType, passes: &[Pass]) -> Vec<Vec<f32>> {
    let c = &model.config;
    let shape = CacheShape::of(c, SEQUENCES, 128);
    let (mut cache, mut work) = (DenseCache::new(shape, cache_type), Workspace::default());
    let mut all = Vec::new();
    for pass in passes {
        let row = |&(sequence, position): &(usize, usize)| Row {
            token: ((position * 7919 + sequence * 31) % 50) as u32,
            position,
            sequence,
            logits: true,
        };
        let rows: Vec<Row> = pass.iter().map(row).collect();
        model.check(&rows, &cache).unwrap();
        let logits = model.forward(&rows, &mut cache, plan, &mut work);
        let found = logits.chunks_exact(c.vocab_size).zip(&rows);
        all.extend(found.filter(|(_, row)| row.sequence == 0).map(|(logits, _)| logits.to_vec()));
    }
    assert_eq!(all.len(), POSITIONS);
    all
}

/// A pass: the sequence and the position of each row.
type Pass = Vec<(usize, usize)>;

/// The names of the only batches that slow rungs compute, because these show most with few rows.
const MIXED: [&str; 2] = ["seven at a time", "another sequence's prompt in between"];

/// Returns passes that compute the first sequence in different batches.
fn batches() -> Vec<(&'static str, Vec<Pass>)> {
    let alone = |range: std::ops::Range<usize>| range.map(|p| (0, p)).collect::<Vec<_>>();
    let chunks = |n: usize| {
        (0..POSITIONS).step_by(n).map(|p| alone(p..POSITIONS.min(p + n))).collect::<Vec<_>>()
    };
    // The other sequences start when the first one has 29 positions.
    let others = |p: usize| (0..SEQUENCES).map(move |s| (s, if s == 0 { p } else { p - 29 }));
    vec![
        ("one at a time", chunks(1)),
        ("whole", chunks(POSITIONS)),
        ("two at a time", chunks(2)),
        ("seven at a time", chunks(7)),
        ("33 at a time", chunks(33)),
        (
            "in the midst of sixteen sequences",
            std::iter::once(alone(0..29))
                .chain((29..POSITIONS).map(|p| {
                    let mut pass: Pass = others(p).collect();
                    pass.rotate_left(9);
                    pass
                }))
                .collect(),
        ),
        (
            "another sequence's prompt in between",
            vec![
                alone(0..20),
                vec![(0, 20)],
                (0..40).map(|p| (3, p)).chain([(0, 21)]).collect(),
                [(0, 22), (0, 23), (3, 40)].to_vec(),
                (24..POSITIONS).map(|p| (0, p)).chain((0..20).map(|p| (1, p))).collect(),
            ],
        ),
    ]
}

#[test]
fn forward_is_independent_of_the_batch() {
    let (all, k) = (TensorType::ALL, [TensorType::Q4_K, TensorType::Q6_K, TensorType::Q8_0]);
    let kinds: [&[TensorType]; 3] = [&[TensorType::Q8_0, TensorType::F32], &k, &all];
    let (batches, _alone) = (batches(), rung_in_use());
    for types in kinds {
        let model = model(types);
        for rung in Rung::available() {
            vector::use_rung(rung);
            // The slow rungs compute row by row, so one set of types and few batches are enough.
            let slow = rung <= Rung::Integer;
            if slow && types.len() != k.len() {
                continue;
            }
            for (attention, cache_type) in [
                (AttentionKind::Streaming, CacheType::F16),
                (AttentionKind::Streaming, CacheType::Q8_0),
                (AttentionKind::TwoPass, CacheType::F16),
            ] {
                let once = (attention, cache_type) != (AttentionKind::Streaming, CacheType::F16);
                if once && (rung, types) != (Rung::best(), &k) {
                    continue;
                }
                let plan = |threads| Plan {
                    kernels: Choice::from(rung).alike(),
                    attention,
                    team: Team::new(threads),
                };
                let expected = logits(&model, &plan(1), cache_type, &batches[0].1);
                assert!(expected.iter().flatten().all(|x| x.is_finite()));
                for (threads, (what, passes)) in batches
                    .iter()
                    .enumerate()
                    .map(|(i, batch)| (1 + i % 2, batch))
                    .filter(|(_, (what, _))| !slow || MIXED.contains(what))
                {
                    let found = logits(&model, &plan(threads), cache_type, passes);
                    let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
                    let position =
                        expected.iter().zip(&found).position(|(a, b)| !a.iter().zip(b).all(same));
                    assert_eq!(
                        position, None,
                        "{rung}, {types:?}, attention {attention}, {cache_type}, {threads} threads, {what}: the \
                         first position whose logits differ from a run alone, row by row"
                    );
                }
            }
        }
    }
}

/// The queries of the block see different numbers of positions.
#[test]
fn attend_block_matches_attend_streaming() {
    let _alone = rung_in_use();
    let mut random = Random(6);
    for head_dim in [16, 40, 64, 80, 96, 128] {
        for rung in Rung::available() {
            vector::use_rung(rung);
            let (heads, positions, rows) = (3, 77, 16);
            let mut numbers = |n: usize| (0..n).map(|_| random.signed()).collect::<Vec<f32>>();
            let (keys, values) = (numbers(positions * head_dim), numbers(positions * head_dim));
            let q = numbers(rows * heads * head_dim);
            let run = |len: usize| Run {
                start: 0,
                len,
                keys: Cells::F32(&keys[..len * head_dim]),
                values: Cells::F32(&values[..len * head_dim]),
            };
            let visible = |t: usize| positions - rows + t + 1;
            let query = |i: usize| Query {
                q: &q[i * head_dim..][..head_dim],
                visible: 0..visible(i / heads),
            };
            let queries: Vec<Query<'_>> = (0..rows * heads).map(query).collect();
            let mut block = vec![0.0; q.len()];
            attend_block(&queries, [run(positions)].into_iter(), head_dim, 0.3, &mut block);
            for t in 0..rows {
                let at = t * heads * head_dim..(t + 1) * heads * head_dim;
                let mut alone = vec![0.0; heads * head_dim];
                let runs = [run(visible(t))].into_iter();
                attend_streaming(&q[at.clone()], runs, head_dim, 0.3, &mut alone);
                let same = alone.iter().zip(&block[at]).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{rung}, heads of {head_dim}: row {t} of the block");
            }
        }
    }
    vector::use_rung(Rung::best());
}
