//! Week 4, day 4, on fresh inputs.

use tiny_llm::week4::{
    backend::{Backend, Place},
    cpu::Cpu,
    cut::fewest_copies,
    graph::{Graph, NodeId},
    placement::{Wishes, pin},
    split::Schedule,
    twin::Twin,
    weights::Weights,
};
use tiny_llm_formats::bytes::Bytes;
use tiny_llm_harness::fresh::Fresh;

use super::{is_computed, on_twins, random_graph};

/// Returns a [`random_graph`], its results, and its order of nodes.
fn drawn(fresh: &Fresh) -> (Graph, Vec<NodeId>, Vec<NodeId>) {
    let (g, results, _) = random_graph(fresh.u64());
    let order = g.order(&results);
    (g, results, order)
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day4 task 1");
    let mut cpu = Cpu::default();
    let buffer = cpu.allocate(64).expect("a few bytes");
    cpu.upload(Place { buffer, offset: 0, bytes: 64 }, &[0; 64]).expect("all of it");
    for _ in 0..50 {
        let (offset, bytes) = (fresh.below(70), fresh.below(20));
        let place = Place { buffer, offset, bytes };
        fresh.says("an upload", &cpu.upload(place, &fresh.bytes(bytes)));
        let mut found = vec![0; bytes];
        fresh.says("a download", &(cpu.download(place, &mut found), found));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day4 task 2");
    for _ in 0..20 {
        let (g, _, order) = drawn(&fresh);
        let lacks = [["add"], ["rms_norm"], ["contiguous"]][fresh.below(3)];
        let twins = [Twin::without(&lacks), Twin::default()];
        let all: Vec<&dyn Backend> = twins.iter().map(|twin| twin as &dyn Backend).collect();
        let weights = order.iter().filter(|&&id| g.node(id).op.name() == "weight");
        let homes = weights.map(|&id| (id, fresh.below(2))).collect();
        let pinned = pin(&g, &order, &all, &Wishes { homes, cache: None });
        fresh.says("who has no choice", &pinned.map_err(|e| format!("{e:#}")));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day4 task 3");
    for _ in 0..20 {
        let (g, _, order) = drawn(&fresh);
        let mut pinned = vec![None; g.len()];
        for &id in order.iter().filter(|&&id| is_computed(&g, id)) {
            pinned[id.index()] = [None, None, Some(0), Some(1)][fresh.below(4)];
        }
        fresh.says("the fewest copies", &fewest_copies(&g, &order, &pinned));
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week4-day4 task 4");
    for _ in 0..20 {
        let (g, results, order) = drawn(&fresh);
        let mut placed = vec![None; g.len()];
        for &id in order.iter().filter(|&&id| is_computed(&g, id)) {
            placed[id.index()] = Some(fresh.below(3));
        }
        let schedule = Schedule::new(&g, &order, &placed, &results).expect("a sound graph");
        let splits = schedule.splits.iter();
        let seen: Vec<_> = splits.map(|s| (s.backend, s.copies.len(), s.nodes.len())).collect();
        fresh.says("splits", &seen);
        let (found, ..) = on_twins(schedule);
        let size = found.iter().fold(1f32, |m, x| m.max(x.abs()));
        let scaled: Vec<f32> = found.iter().map(|x| x / size).collect();
        fresh.answers("results over their size", &scaled, 1e-3);
    }
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week4-day4 task 5");
    for reads_host in [false, true] {
        let mut twin = Twin::default().with_alignment(32);
        if reads_host {
            twin = twin.with_host_pointers();
        }
        let (mut weights, file) = (Weights::default(), Bytes::from(fresh.bytes(512)));
        for _ in 0..20 {
            let start = 16 * fresh.below(20);
            let part = file.slice(start..start + 16 * fresh.from_to(1, 10)).expect("a part");
            let place = weights.place(&mut twin, &part).expect("there is room");
            fresh.says("where it is", &(place.offset, place.bytes));
            fresh.says("in place, copied", &(weights.in_place, weights.copied));
        }
    }
}
