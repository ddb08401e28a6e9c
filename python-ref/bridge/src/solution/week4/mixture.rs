//! Day 6: routers, groups, sinks and windows.

use super::{
    super::rust::week2::{
        cache::{Cells, Run},
        kernels::{Rung, vector::TILE},
        matrix::Matrix,
        parallel::Team,
        plan::{AttentionKind, Plan},
        streaming::{MAX_HEAD_DIM, MAX_QUERIES},
    },
    rust::mixture::{grouped, route as router, sinks, windows},
};
use crate::prelude::*;

exports! { fn route, group, indexed_matmul, attend, visible, pages_out; }

/// Chooses `k` experts for each row of `logits [T, n]`. Returns the experts and their weights.
/// `order` is "softmax", "renormalized" or "top_k".
#[pyfunction]
fn route(logits: Floats, k: Count, order: &str) -> PyResult<(Vec<Vec<usize>>, Floats)> {
    let (k, shapes) = (k.0, fit!(logits = "T n"));
    at_most("logits", &logits, 1e30)?;
    at_least_one("k", k)?;
    let n = shapes.size("n");
    refuse_if!(k > n; "k", k; "at most {n}, as many as there are");
    let routing = match order {
        "softmax" => router::Routing::SoftmaxFirst { renormalize: false },
        "renormalized" => router::Routing::SoftmaxFirst { renormalize: true },
        "top_k" => router::Routing::TopKFirst,
        _ => return Err(wrong("order", order, "\"softmax\", \"renormalized\" or \"top_k\"")),
    };
    let logits = logits.to_vec();
    call(move || {
        let mut all = (Vec::new(), Vec::new());
        for logits in logits.chunks_exact(n) {
            let (mut chosen, mut weights) = (vec![0; k], vec![0.0; k]);
            router::route(logits, routing, &mut chosen, &mut weights);
            all.0.push(chosen);
            all.1.extend(weights);
        }
        let rows = all.0.len();
        (all.0, Floats(tensor(&[rows, k], all.1)))
    })
}

fn of_experts(chosen: &[usize], experts: usize) -> PyResult<()> {
    match chosen.iter().find(|&&expert| expert >= experts) {
        None => Ok(()),
        Some(expert) => Err(wrong("chosen", expert, format_args!("experts below {experts}"))),
    }
}

/// Groups assignments by expert. `chosen` holds each assignment's expert. Returns where each group
/// starts, and the indices of all assignments in group order.
#[pyfunction]
fn group(chosen: Vec<usize>, experts: Count) -> PyResult<(Vec<usize>, Vec<usize>)> {
    of_experts(&chosen, experts.0.min(1 << 16))?;
    call(move || {
        let groups = grouped::group(&chosen, experts.0.min(1 << 16));
        (groups.starts, groups.members)
    })
}

/// Multiplies one row of `x [T or A, K]` per assignment by a matrix of `stack [n, M, K]`. `chosen
/// [A]` holds each assignment's expert. Also returns how many bytes were read.
#[pyfunction]
fn indexed_matmul(stack: Floats, chosen: Vec<usize>, x: Floats) -> PyResult<(Floats, usize)> {
    let shapes = fit!(stack = "n M K", x = "T K");
    let [n, rows, cols, inputs] = ["n", "M", "K", "T"].map(|x| shapes.size(x));
    for size in [n, rows, cols] {
        at_least_one("stack", size)?;
    }
    at_least_one("x", inputs)?;
    divides("x", inputs, chosen.len(), "assignments")?;
    of_experts(&chosen, n)?;
    let (stack, x) = (stack.to_vec(), x.to_vec());
    attempt(move || {
        let stack = Matrix::from_f32(n * rows, cols, &stack).split(n)?;
        let groups = grouped::group(&chosen, n);
        let (kernels, team) = (Rung::Naive.into(), Team::new(1));
        let plan = Plan { kernels, attention: AttentionKind::Streaming, team };
        let mut out = vec![0.0; chosen.len() * rows];
        let mut work = grouped::Gathered::default();
        let bytes = grouped::indexed_matmul(&stack, &groups, &x, &plan, &mut work, &mut out);
        Ok((Floats(tensor(&[chosen.len(), rows], out)), bytes))
    })
}

/// Computes attention of `q [G, D]` over `keys` and `values [n, D]`, with `sinks [G]`.
#[pyfunction]
fn attend(q: Floats, keys: Floats, values: Floats, sinks: Floats) -> PyResult<Floats> {
    let shapes = fit!(q = "G D", keys = "n D", values = "n D", sinks = "G");
    let [group, d, n] = ["G", "D", "n"].map(|x| shapes.size(x));
    at_least_one("q", d)?;
    at_least_one("q", group)?;
    refuse_if!(d > MAX_HEAD_DIM || group > MAX_QUERIES; "q", format_args!("{group} heads of {d}");
        "at most {MAX_QUERIES} heads of at most {MAX_HEAD_DIM}");
    for (name, x) in [("q", &q), ("keys", &keys), ("values", &values), ("sinks", &sinks)] {
        at_most(name, x, 1e6)?;
    }
    let [q, keys, values, sinks] = [q, keys, values, sinks].map(|x| x.to_vec());
    call(move || {
        let runs = (0..n).step_by(2 * TILE).map(|start| {
            let len = (2 * TILE).min(n - start);
            let cells = |x| Cells::F32(x);
            let at = start * d..(start + len) * d;
            Run { start, len, keys: cells(&keys[at.clone()]), values: cells(&values[at]) }
        });
        let mut out = vec![0.0; group * d];
        sinks::attend_with_sinks(&q, runs, d, 1.0 / (d as f32).sqrt(), &sinks, &mut out);
        Floats(tensor(&[group, d], out))
    })
}

/// Returns the positions that a row sees, as start and end. If `window` is 0, there is no window.
#[pyfunction]
fn visible(position: Count, window: Count) -> PyResult<(usize, usize)> {
    let window = Some(window.0).filter(|&n| n > 0);
    call(move || {
        let seen = windows::visible(position.0, window);
        (seen.start, seen.end)
    })
}

/// Returns how many pages at the start are seen by no row from `next` on. A `window` of 0 is none.
#[pyfunction]
fn pages_out(next: Count, window: Count, page_len: Count) -> PyResult<usize> {
    at_least_one("page_len", page_len.0)?;
    let window = Some(window.0).filter(|&n| n > 0);
    call(move || windows::pages_out(next.0, window, page_len.0))
}
