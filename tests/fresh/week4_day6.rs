//! Week 4, day 6, on fresh inputs.

use tiny_llm::{
    week2::{
        cache::{Cells, Run},
        matrix::Matrix,
    },
    week3::pool::BlockPool,
    week4::mixture::{
        grouped::{Gathered, combine, group, indexed_matmul},
        route::{Routing, route, top_k},
        sinks::{attend_with_sinks, begin, softmax_with_sink},
        windows::{PageTable, pages_out, visible},
    },
};
use tiny_llm_harness::fresh::Fresh;

use super::plan;

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day6 task 1");
    for i in 0..24 {
        let n = fresh.from_to(1, 12);
        let k = fresh.from_to(1, n);
        let scale = [1.0, 40.0][i % 2];
        let logits: Vec<f32> = fresh.f32s(n).iter().map(|x| x * scale).collect();
        let routing = match i % 3 {
            0 => Routing::TopKFirst,
            1 => Routing::SoftmaxFirst { renormalize: true },
            _ => Routing::SoftmaxFirst { renormalize: false },
        };
        let (mut chosen, mut weights) = (vec![0; k], vec![0.0; k]);
        route(&logits, routing, &mut chosen, &mut weights);
        fresh.says("the experts", &chosen);
        fresh.answers("their weights", &weights, 1e-5);
        let few: Vec<f32> = (0..n).map(|_| fresh.below(3) as f32).collect();
        top_k(&few, &mut chosen);
        fresh.says("among equals", &chosen);
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day6 task 2");
    for i in 0..12 {
        let (n, k, tokens) = (fresh.from_to(2, 7), fresh.from_to(1, 2), fresh.from_to(1, 6));
        let (rows, cols) = (fresh.from_to(1, 6), fresh.from_to(1, 9));
        let chosen: Vec<usize> = (0..tokens * k).map(|_| fresh.below(n)).collect();
        let groups = group(&chosen, n);
        fresh.says("groups", &groups);
        let stack: Vec<Matrix> =
            (0..n).map(|_| Matrix::from_f32(rows, cols, &fresh.f32s(rows * cols))).collect();
        let x = fresh.f32s(cols * if i % 2 == 0 { tokens } else { tokens * k });
        let mut out = vec![0.0; chosen.len() * rows];
        let bytes =
            indexed_matmul(&stack, &groups, &x, &plan(), &mut Gathered::default(), &mut out);
        fresh.says("bytes", &bytes);
        fresh.answers("products", &out, 1e-3);
        let mut sums = vec![0.0; tokens * rows];
        combine(&out, &fresh.f32s(chosen.len()), &mut sums);
        fresh.answers("what they come to", &sums, 1e-3);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day6 task 3");
    for _ in 0..12 {
        let (d, group, n) = (4 * fresh.from_to(1, 4), fresh.from_to(1, 4), fresh.from_to(1, 80));
        let mut scores = fresh.f32s(n);
        let sink = fresh.f32();
        softmax_with_sink(&mut scores, sink);
        fresh.answers("weights", &scores, 1e-6);
        fresh.answers("a beginning", &[begin(sink).max, begin(sink).total], 0.0);
        let (q, sinks) = (fresh.f32s(group * d), fresh.f32s(group));
        let (k, v) = (fresh.f32s(n * d), fresh.f32s(n * d));
        let run = Run { start: 0, len: n, keys: Cells::F32(&k), values: Cells::F32(&v) };
        let mut out = vec![0.0; group * d];
        attend_with_sinks(&q, [run].into_iter(), d, 0.5, &sinks, &mut out);
        fresh.answers("attention", &out, 1e-4);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week4-day6 task 4");
    for i in 0..12 {
        let window = (i % 4 > 0).then(|| fresh.from_to(1, 20));
        let page = fresh.from_to(1, 8);
        let mut pool = BlockPool::new(80);
        let mut table = PageTable::new(window, page);
        for position in 0..60 {
            fresh.says("what is seen", &visible(position, window));
            fresh.says("pages out", &pages_out(position, window, page));
            table.reserve(position, &mut pool);
            table.slide(position + 1, &mut pool);
            let old = fresh.below(position + 2);
            fresh.says("found", &(table.find(old), pool.num_free(), table.gone));
        }
    }
}
