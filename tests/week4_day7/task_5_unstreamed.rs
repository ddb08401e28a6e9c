//! Week 4, day 7, task 5: the same tokens and bits as a model that has everything in memory.

use tiny_llm::week4::streamed::{
    engine::{Engine, Options},
    math::{rms_norm, rotate, silu},
    store::split_row,
};

use super::*;

/// A model with all weights and all logits in memory.
struct Unstreamed<'a> {
    shape: Shape,
    file: &'a [u8],
    cache: Cache<'a>,
}

impl Unstreamed<'_> {
    fn product(&self, part: Component, x: &[f32]) -> Vec<f32> {
        let mut steps = vec![0; x.len()];
        let x = Activations::of(x, &mut steps);
        let (rows, row) = (self.shape.size(part).0, self.shape.row_bytes(part));
        let at = self.shape.place(part, 0) as usize;
        let bytes = self.file[at..at + rows * row].chunks_exact(row);
        bytes
            .map(|bytes| {
                let (scale, weights) = split_row(bytes);
                dot(weights, x.values) as f32 * (scale * x.scale)
            })
            .collect()
    }

    fn floats(&self, part: Component, row: usize) -> Vec<f32> {
        let at = self.shape.place(part, row) as usize;
        let bytes = self.file[at..at + self.shape.row_bytes(part)].chunks_exact(4);
        bytes.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    fn norm(&self, part: Component, x: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; x.len()];
        rms_norm(x, &self.floats(part, 0), self.shape.eps, &mut out);
        out
    }

    /// Returns the logits after another token.
    fn step(&mut self, token: u32) -> Vec<f32> {
        let s = self.shape;
        let at = s.place(Component::Embedding, token as usize) as usize;
        let (scale, row) = split_row(&self.file[at..at + s.row_bytes(Component::Embedding)]);
        let mut hidden: Vec<f32> = row.iter().map(|x| f32::from(*x) * scale).collect();

        let x = self.norm(Component::AttentionNorm, &hidden);
        let [mut q, mut k, v] =
            [Component::Query, Component::Key, Component::Value].map(|part| self.product(part, &x));
        let turn = self.floats(Component::Rope, self.cache.len());
        rotate(&mut q, &turn);
        rotate(&mut k, &turn);
        self.cache.push(&k, &v).expect("push must succeed: there is room");
        let mut read = vec![0.0; q.len()];
        self.cache
            .attend(&q, arena_of(4000).0, &mut read)
            .expect("attend must succeed: there is room");
        add(&mut hidden, &self.product(Component::Output, &read));

        let x = self.norm(Component::MlpNorm, &hidden);
        let (gate, up) = (self.product(Component::Gate, &x), self.product(Component::Up, &x));
        let inner: Vec<f32> = gate.iter().zip(up).map(|(gate, up)| silu(*gate) * up).collect();
        add(&mut hidden, &self.product(Component::Down, &inner));
        self.product(Component::Head, &self.norm(Component::FinalNorm, &hidden))
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// With any chunk size and device, tokens and bits are those of a model that is all in memory.
#[test]
fn task_5_logits_equal_unstreamed_model_bit_for_bit() {
    check::resting_on(&[INT8, BUDGET, STORE, LAYER], || {
        let (file, shape) = (file(), shape());
        for (chunk_rows, at_once) in [(1, usize::MAX), (7, 5), (128, 1000), (1000, usize::MAX)] {
            let (mut arena, _) = arena_of(4000);
            let cache =
                Cache::new(&mut arena, &shape, 12).expect("Cache::new must succeed: there is room");
            let mut whole = Unstreamed { shape, file: &file, cache };
            let asked = RefCell::default();
            let store = Store::open(Device { at_once, ..Device::new(&file, &asked) })
                .expect("Store::open must accept this file");
            let (arena, _) = arena_of(60_000);
            let options = Options { positions: 12, chunk_rows, top_k: 40 };
            let mut engine = Engine::new(store, arena, options)
                .expect("Engine::new must succeed: there is room");
            let mut token = 11;
            for step in 0..12 {
                let rows = if chunk_rows == 1 { "row" } else { "rows" };
                let call = format!("step {step}, {chunk_rows} {rows} at a time");
                let mut expected: Vec<(u32, f32)> =
                    (0..).zip(whole.step(token)).take(shape.tokens).collect();
                expected.sort_by(|a, b| b.1.total_cmp(&a.1));
                check::assert_accepts(&call, || engine.feed(token))
                    .expect("feed must accept this token");
                let best: Vec<(u32, f32)> =
                    engine.best().expect("best must return tokens").collect();
                let kept = best.len();
                assert!(kept == 40, "{call}: number of tokens kept: found {kept}, expected 40");
                for (i, (found, expected)) in best.iter().zip(&expected).enumerate() {
                    let bits = |of: &(u32, f32)| (of.0, of.1.to_bits());
                    assert!(
                        bits(found) == bits(expected),
                        "{call}: (token, logit) {i} of the 40 best differs from that of the \
                         unstreamed model; all bits must be equal\n  found    {found:?}\n  \
                         expected {expected:?}"
                    );
                }
                token = best[step % 3].0;
            }
        }
    });
}
