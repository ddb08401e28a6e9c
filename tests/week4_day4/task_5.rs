//! Week 4, day 4, task 5: weights in place, and the course's model on two backends.

use std::sync::atomic::Ordering::Relaxed;

use tiny_llm::{
    week2::{
        kernels::Rung,
        model::Workspace,
        plan::{AttentionKind, Plan},
    },
    week4::{
        backend::{Backend, Fault, Place},
        cpu::Cpu,
        engine::GraphEngine,
        op::Op,
        placement::Wishes,
        scheduler::Scheduler,
        split::Schedule,
        twin::{Counts, Twin},
        weights::Weights,
    },
};
use tiny_llm_formats::bytes::Bytes;
use tiny_llm_harness::{
    allocations::count,
    check::{assert_accepts, assert_answer, assert_refuses, resting_on},
    messages::assert_good,
};

use super::{
    CPU, CUT, PINS, SPLITS, bits, is_computed, on_twins, pass, plan, random_graph,
    story::{cache_for, rows, story},
    task_3::copies,
    task_4::check_owners,
    unplanned,
};

/// Returns a file of `n` bytes, in which neighbouring bytes differ.
fn file(n: usize) -> Bytes {
    Bytes::from((0..n).map(|i| (i * 7 % 251) as u8).collect::<Vec<_>>())
}

/// Returns the calls that a twin has counted: host pointers, buffers, uploads and uploaded bytes.
fn asked(counts: &Counts) -> [usize; 4] {
    [&counts.host_pointers, &counts.buffers, &counts.uploads, &counts.uploaded]
        .map(|n| n.load(Relaxed))
}

fn place(what: &str, weights: &mut Weights, twin: &mut Twin, bytes: &Bytes) -> Place {
    let place = assert_good(what, || weights.place(twin, bytes));
    let mut there = vec![0; place.bytes];
    twin.download(place, &mut there)
        .unwrap_or_else(|e| panic!("{what}: this must succeed, but it failed: {e}"));
    assert!(there == **bytes, "{what}: the bytes at {place:?} are not the weight's");
    place
}

/// Weights: the index of a file, and the range of their bytes in it.
const PARTS: [(usize, std::ops::Range<usize>); 6] =
    [(0, 64..192), (0, 192..256), (1, 0..64), (0, 64..192), (1, 128..130), (1, 64..128)];

#[test]
fn task_5_weights_share_one_host_pointer_per_file() {
    let mut twin = Twin::default().with_host_pointers();
    let (counts, files, mut weights) = (twin.counts(), [file(256), file(300)], Weights::default());
    for (i, (which, range)) in PARTS.into_iter().enumerate() {
        let what = format!("weight {i}, bytes {range:?} of file {which}");
        let bytes = files[which].slice(range.clone()).expect("a part");
        let found = place(&what, &mut weights, &mut twin, &bytes);
        let expected = Place { offset: range.start, bytes: range.len(), ..found };
        assert_answer(&format!("{what}: its place"), &found, &expected);
    }
    assert_answer(
        "place of all weights, requests to the device: [host pointers, buffers, uploads, bytes \
         uploaded]",
        &asked(&counts),
        &[2, 0, 0, 0],
    );
    let found = (weights.in_place, weights.copied);
    assert_answer(
        "place of all weights: (bytes in place, bytes copied)",
        &found,
        &(128 + 64 + 64 + 2 + 64, 0),
    );
}

#[test]
fn task_5_weights_are_uploaded_without_host_pointers() {
    let mut twin = Twin::default();
    let (counts, files, mut weights) = (twin.counts(), [file(256), file(300)], Weights::default());
    for (i, (which, range)) in PARTS.into_iter().enumerate() {
        let what = format!("weight {i}, bytes {range:?} of file {which}");
        let bytes = files[which].slice(range.clone()).expect("a part");
        let found = place(&what, &mut weights, &mut twin, &bytes);
        let expected = Place { offset: 0, bytes: range.len(), ..found };
        assert_answer(&format!("{what}: its place"), &found, &expected);
    }
    let all = 128 + 64 + 64 + 2 + 64;
    assert_answer(
        "place of all weights, requests to the device: [host pointers, buffers, uploads, bytes \
         uploaded]",
        &asked(&counts),
        &[2, 5, 5, all],
    );
    assert_answer(
        "place of all weights: (bytes in place, bytes copied)",
        &(weights.in_place, weights.copied),
        &(0, all),
    );
}

#[test]
fn task_5_unaligned_weights_are_uploaded() {
    let mut twin = Twin::default().with_host_pointers().with_alignment(64);
    let (counts, whole, mut weights) = (twin.counts(), file(512), Weights::default());
    for (range, in_place) in [(128..192, true), (96..160, false), (192..200, true), (8..12, false)]
    {
        let what = format!("bytes {range:?} of a file, with an alignment of 64");
        let bytes = whole.slice(range.clone()).expect("a part");
        let found = place(&what, &mut weights, &mut twin, &bytes);
        let offset = if in_place { range.start } else { 0 };
        assert_answer(&format!("{what}: its offset"), &found.offset, &offset);
    }
    assert_answer(
        "place of all weights, requests to the device: [host pointers, buffers, uploads, bytes \
         uploaded]",
        &asked(&counts),
        &[1, 2, 2, 68],
    );
    assert_answer(
        "place of all weights: (bytes in place, bytes copied)",
        &(weights.in_place, weights.copied),
        &(72, 68),
    );
}

/// Weights may start at the same byte, and files may have the same length.
#[test]
fn task_5_weights_are_identified_by_address_and_length() {
    for pointers in [false, true] {
        let twin = Twin::default();
        let mut twin = if pointers { twin.with_host_pointers() } else { twin };
        let mut weights = Weights::default();
        let files = [file(128), Bytes::from(vec![9; 128])];
        for range in [0..128, 0..64, 64..128] {
            for (i, file) in files.iter().enumerate() {
                let bytes = file.slice(range.clone()).expect("a part");
                let what = format!("bytes {range:?} of file {i}");
                let found = assert_accepts(&what, || weights.place(&mut twin, &bytes));
                // A place of 128 bytes belongs to another weight that starts at the same byte.
                let other = found.is_ok_and(|found| found.bytes == 128 && bytes.len() < 128);
                assert!(
                    !other || pointers,
                    "{what}: found a place of 128 bytes, expected {}\n  diagnosis You recognize \
                    weights by address alone. Compare the length too: two weights may start \
                    at the same address.",
                    bytes.len()
                );
                place(&what, &mut weights, &mut twin, &bytes);
            }
        }
    }
}

#[test]
fn task_5_place_returns_an_error_on_full_or_lost_device() {
    let mut twin = Twin::default().with_limit(100);
    let (counts, mut weights) = (twin.counts(), Weights::default());
    let whole = file(256);
    let [small, large] = [0..64, 64..192].map(|range| whole.slice(range).expect("a part"));
    place("64 bytes of 100", &mut weights, &mut twin, &small);
    let full = Err(Fault::OutOfMemory { wanted: 128, limit: Some(100) });
    for _ in 0..2 {
        let found = assert_refuses("a weight of 128 bytes with 36 bytes free", || {
            weights.place(&mut twin, &large)
        });
        assert_answer("a weight of 128 bytes with 36 bytes free", &found, &full);
    }
    place("a weight that is already uploaded", &mut weights, &mut twin, &small);
    assert_answer(
        "place of three weights on a device of 100 bytes: bytes copied",
        &weights.copied,
        &64,
    );

    let mut twin = Twin::default();
    let (lost, mut weights) = (twin.counts(), Weights::default());
    lost.lost_after.store(2, Relaxed);
    let found = assert_refuses("a lost device", || weights.place(&mut twin, &small));
    assert!(
        matches!(found, Err(Fault::Lost(_))),
        "a device that is lost during an upload: found {found:?}, expected Fault::Lost"
    );
    lost.lost_after.store(0, Relaxed);
    let left = lost.buffers.load(Relaxed);
    assert_answer("buffers left after a failed upload", &left, &0);
    assert_answer("bytes copied after a failed upload", &weights.copied, &0);
    place("a weight after the device has come back", &mut weights, &mut twin, &small);
    assert_answer(
        "number of buffers on the first device, after the second was lost",
        &counts.buffers.load(Relaxed),
        &1,
    );
}

/// Runs the course's model on one or two backends. Checks week 2's logits, the number of copies,
/// and that a second pass of one size allocates nothing.
#[test]
fn task_5_logits_equal_week_2_on_one_and_two_backends() {
    resting_on(&[CPU, PINS, CUT, SPLITS], || {
        // Attention in one pass, which needs no additional memory.
        let kernels = Rung::Fused.into();
        let plan = Plan { attention: AttentionKind::Streaming, kernels, ..plan() };
        let model = story();
        let c = &model.config;
        let bytes: usize = model.matrices().map(|matrix| matrix.bytes().len()).sum();
        let table = model.embedding.bytes().len();
        let attention = ["attend", "embed"];
        // Name, backends, splits and copies of a pass, bytes of weights in place and copied.
        type Case = (&'static str, Vec<Box<dyn Backend>>, [usize; 2], [usize; 2]);
        let cases: [Case; 4] = [
            ("the processor", vec![Box::new(Cpu::default())], [1, 0], [bytes, 0]),
            ("a twin", vec![Box::new(Twin::default())], [1, 0], [0, bytes]),
            (
                "a twin that reads the program's memory",
                vec![
                    Box::new(Twin::default().with_host_pointers().with_alignment(1)),
                    Box::new(Cpu::default()),
                ],
                [1, 0],
                [bytes, 0],
            ),
            (
                "a twin that cannot attend, and the processor",
                vec![Box::new(Twin::without(&attention)), Box::new(Cpu::default())],
                [2 * c.n_layers + 2, 4 * c.n_layers + 1],
                [table, bytes],
            ),
        ];
        for (what, backends, [splits, copies], [in_place, copied]) in cases {
            let [mut ours, mut theirs] = [0; 2].map(|_| cache_for(&model));
            let mut engine = GraphEngine::on(Scheduler::new(backends), Wishes::default());
            let mut work = Workspace::default();
            let mut position = 0;
            for n in [2, 1, 1] {
                let rows = rows(&model, position, n);
                position += n;
                let what = format!("{what}: {n} rows that end at position {position}");
                let before =
                    engine.scheduler().expect("the engine must have a scheduler").traffic();
                let (allocations, _) = count(|| {
                    assert_good(&what, || {
                        engine.forward(&model, &rows, &mut ours, &plan).map(<[f32]>::len)
                    })
                });
                let expected = model.forward(&rows, &mut theirs, &plan, &mut work);
                let pairs = engine.logits().iter().zip(expected);
                let differ = pairs.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
                assert_eq!(differ, 0, "{what}: number of logits that differ from week 2's");
                let after = engine.scheduler().expect("the engine must have a scheduler").traffic();
                let moved = [after.splits - before.splits, after.copies - before.copies];
                assert_answer(&format!("{what}: [splits, copies]"), &moved, &[splits, copies]);
                // The first pass of a size, and the first pass with attention, may allocate memory.
                assert!(
                    position < 4 || allocations == 0,
                    "{what}: found {allocations} heap allocations, expected none"
                );
            }
            let weights = engine.scheduler().expect("the engine must have a scheduler").weights();
            let found = weights.fold([0; 2], |n, w| [n[0] + w.in_place, n[1] + w.copied]);
            let what = format!("{what}: [bytes of weights in place, bytes copied]");
            assert_answer(&what, &found, &[in_place, copied]);
        }
    });
}

/// When the size of a pass changes, the old graph's buffers are released, and no weight is uploaded
/// again.
#[test]
fn task_5_new_pass_size_copies_no_weights_again() {
    resting_on(&[CPU, PINS, CUT, SPLITS], || {
        let (model, plan) = (story(), plan());
        let twin = Twin::default();
        let counts = twin.counts();
        let mut engine = GraphEngine::on(Scheduler::new(vec![Box::new(twin)]), Wishes::default());
        let mut cache = cache_for(&model);
        let mut seen = Vec::new();
        let mut position = 0;
        for n in [2, 1, 2] {
            let rows = rows(&model, position, n);
            position += n;
            assert_good(&format!("a pass of {n} rows"), || {
                engine.forward(&model, &rows, &mut cache, &plan).map(<[f32]>::len)
            });
            let scheduler = engine.scheduler().expect("the engine must have a scheduler");
            let copied = scheduler.weights().map(|weights| weights.copied).sum::<usize>();
            seen.push((copied, counts.buffers.load(Relaxed)));
        }
        let first = seen[0];
        assert!(
            seen.iter().all(|one| *one == first),
            "passes of 2, 1 and 2 rows: (bytes of weights copied so far, buffers in use) after \
             each pass: found {seen:?}, expected the same each time"
        );
    });
}

/// A graph has the same results with any placement, bit for bit.
#[test]
fn task_5_random_placements_do_not_change_results() {
    resting_on(&[CPU], || {
        for seed in 0..60 {
            let (g, results, mut below) = random_graph(seed);
            let order = g.order(&results);
            let expected = unplanned(&g, &results);
            for backends in 1..=3 {
                let mut placed = vec![None; g.len()];
                for &id in order.iter().filter(|&&id| is_computed(&g, id)) {
                    placed[id.index()] = Some(below(backends));
                }
                let what = format!("random graph {seed}, on {backends} backends");
                let schedule = assert_good(&what, || Schedule::new(&g, &order, &placed, &results));
                check_owners(&what, &schedule);
                assert_eq!(
                    schedule.copies(),
                    copies(&g, &order, &placed),
                    "{what}: number of copies"
                );
                let (found, ..) = on_twins(schedule);
                assert!(
                    bits(&found) == bits(&expected),
                    "{what}: the numbers differ from those with one backend"
                );
            }
        }
    });
}

/// A device fails at any call, or has little memory. Each error is one line, and only weights keep
/// their buffers.
#[test]
fn task_5_device_errors_are_one_line_and_leak_no_buffers() {
    resting_on(&[CPU, PINS, CUT], || {
        let mut lost = 0;
        // Some of these graphs have no weights, so no buffer may remain.
        for seed in 0..16 {
            let (g, results, _) = random_graph(seed);
            let order = g.order(&results);
            let kept = g.ids().filter(|&id| matches!(g.node(id).op, Op::Weight(_))).count();
            let check_buffers = |what: &str, counts: &Counts| {
                let left = counts.buffers.load(Relaxed);
                assert!(
                    left <= kept,
                    "{what}: {left} buffers are left, but only the {kept} weights may keep theirs"
                );
            };
            for after in 1..200 {
                let twin = Twin::without(&["rms_norm", "add"]);
                let counts = twin.counts();
                counts.lost_after.store(after, Relaxed);
                let all: Vec<Box<dyn Backend>> = vec![Box::new(twin), Box::new(Cpu::default())];
                let mut scheduler = Scheduler::new(all);
                let told = match scheduler.prepare(&g, &order, &results, &Wishes::default()) {
                    Err(error) => Some(format!("{error:#}")),
                    Ok(ready) => {
                        let told = pass(|step| scheduler.run(&ready, step)).err();
                        scheduler.release(ready);
                        told.map(|error| format!("{error:#}"))
                    }
                };
                let Some(told) = told else { break };
                lost += 1;
                check_buffers(&format!("device lost at call {after}"), &counts);
                assert!(
                    told.contains("twin: ") && told.contains("the device is lost"),
                    "device lost at call {after}: the message {told:?} must contain `twin: ` and \
                     `the device is lost`"
                );
                assert!(
                    !told.contains('\n'),
                    "device lost at call {after}: the message {told:?} must be one line"
                );
            }
            let twin = Twin::default().with_limit(100);
            let counts = twin.counts();
            let mut scheduler = Scheduler::new(vec![Box::new(twin)]);
            let refused = scheduler.prepare(&g, &order, &results, &Wishes::default());
            let told = format!(
                "{:#}",
                refused.expect_err("prepare must fail, because 100 bytes are too few")
            );
            assert!(
                told.contains("twin: ") && told.contains("out of memory"),
                "a device with 100 bytes: the message {told:?} must contain `twin: ` and `out \
                 of memory`"
            );
            drop(scheduler);
            check_buffers("a device with 100 bytes", &counts);
        }
        assert!(lost > 30, "the device was called only {lost} times, expected more than 30");
    });
}
