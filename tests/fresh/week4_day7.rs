//! Week 4, day 7, on fresh inputs.

use tiny_llm::week4::streamed::{
    engine::{Engine, Options},
    head::TopK,
};
use tiny_llm_harness::fresh::Fresh;

use super::*;

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day7 task 1");
    for _ in 0..20 {
        let n = fresh.from_to(1, 700);
        let x = fresh.f32s(n);
        let (mut small, mut large) = (vec![0; n], vec![0; n]);
        let scales = [quantize_int8(&x, &mut small), quantize_int16(&x, &mut large)];
        fresh.answers("scales", &scales, 1e-9);
        // A quotient near a half may be rounded either way.
        fresh.answers("int8", &small.iter().map(|x| f32::from(*x)).collect::<Vec<_>>(), 1.0);
        fresh.answers("int16", &large.iter().map(|x| f32::from(*x)).collect::<Vec<_>>(), 1.0);
        let bytes = fresh.bytes(3 * n);
        let weights: Vec<i8> = bytes[..n].iter().map(|b| (*b as i8).max(-127)).collect();
        let x: Vec<i16> = bytes[n..]
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]).max(-32_767))
            .collect();
        fresh.says("dot", &dot(&weights, &x));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day7 task 2");
    let (mut arena, ledger) = arena_of(1000);
    for _ in 0..30 {
        let n = fresh.below(40);
        match fresh.below(5) {
            0 => fresh.says("bytes", &arena.take::<u8>("bytes", n).map(|x| x.to_vec()).is_ok()),
            1 => fresh.says("longs", &arena.take::<i64>("longs", n / 8).is_ok()),
            2 => {
                let mut scope = arena.scope();
                let taken =
                    scope.take::<f32>("scoped", 10 * n).map(|x| x.iter().sum::<f32>()).is_ok();
                fresh.says("scope", &(taken, scope.free()));
            }
            3 => {
                let error = arena.take::<u16>("much", 500 + n).expect_err("more than there is");
                if let Error::Full { wanted, free, budget, .. } = error {
                    fresh.says("full", &(wanted, free, budget));
                }
            }
            _ => fresh.says("free", &(arena.free(), ledger.peak())),
        }
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day7 task 3");
    let (file, shape) = (file(), shape());
    let asked = RefCell::default();
    let device = Device { at_once: fresh.from_to(1, 100), ..Device::new(&file, &asked) };
    let mut store = Store::open(device).expect("a good file");
    for _ in 0..20 {
        let part = [Component::Gate, Component::Head, Component::Embedding][fresh.below(3)];
        let (rows, cols) = shape.size(part);
        let first = fresh.below(rows);
        let end = fresh.from_to(first, rows);
        let mut bytes = vec![0; (end - first) * shape.row_bytes(part)];
        store.read(part, first, &mut bytes).expect("read must succeed");
        fresh.says("bytes", &bytes);
        let mut steps = vec![0; cols];
        let x = Activations::of(&fresh.f32s(cols), &mut steps);
        let mut chunk = vec![0; fresh.from_to(shape.row_bytes(part), 4000)];
        let mut out = vec![0.0; end - first];
        store.product(part, first..end, x, &mut chunk, &mut out).expect("product must succeed");
        fresh.answers("product", &out, 1e-2);
        fresh.says("counts", &store.counts());
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week4-day7 task 4");
    let shape =
        Shape { kv_heads: fresh.from_to(1, 3), head_dim: 2 * fresh.from_to(1, 8), ..shape() };
    let (mut arena, _) = arena_of(40_000);
    let mut cache =
        Cache::new(&mut arena, &shape, 20).expect("Cache::new must succeed: there is room");
    let size = shape.kv_heads * shape.head_dim;
    for _ in 0..20 {
        cache.push(&fresh.f32s(size), &fresh.f32s(size)).expect("push must succeed: there is room");
        let mut out = vec![0.0; 2 * size];
        cache
            .attend(&fresh.f32s(2 * size), arena.scope(), &mut out)
            .expect("attend must succeed: there is room");
        fresh.answers("attention", &out, 0.02);
    }
    fresh.says("full", &cache.push(&vec![0.0; size], &vec![0.0; size]));
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week4-day7 task 5");
    let (mut arena, _) = arena_of(1000);
    let mut top =
        TopK::new(&mut arena, fresh.from_to(1, 20)).expect("TopK::new must succeed: there is room");
    for token in 0..200 {
        // Few values, so that many are equal.
        top.offer(token, fresh.below(30) as f32 - 15.0);
    }
    fresh.says("best", &top.best().collect::<Vec<_>>());
    let file = file();
    let (arena, _) = arena_of(60_000);
    let options = Options { positions: 12, chunk_rows: fresh.from_to(1, 200), top_k: 5 };
    let mut engine =
        Engine::new(open(&file), arena, options).expect("Engine::new must succeed: there is room");
    for _ in 0..12 {
        engine.feed(fresh.below(290) as u32).expect("a token");
        let logits: Vec<f32> = engine.best().expect("a token").map(|x| x.1).collect();
        fresh.answers("logits", &logits, 0.02);
        fresh.says("counts", &engine.counts().bytes);
    }
}
