//! Week 4, day 7, task 4: a layer within the budget.

use tiny_llm::week4::streamed::layer::{OUTPUTS, mlp};
use tiny_llm_harness::fixtures::random;

use super::*;

/// Bytes of scratch that alignment may waste when a few parts are taken.
const SLACK: usize = 24;

fn cache_shape(kv_heads: usize, head_dim: usize) -> Shape {
    Shape { kv_heads, head_dim, ..shape() }
}

/// Pushes all positions of a case, and returns the output of attention.
fn attention(case: &Case, positions: usize) -> Tensor {
    let (keys, values, q) = (case.tensor("keys"), case.tensor("values"), case.tensor("q"));
    let [n, heads, dim] = *keys.shape() else { panic!("three axes") };
    let (mut arena, _) = arena_of(40_000);
    let mut cache = Cache::new(&mut arena, &cache_shape(heads, dim), positions)
        .expect("Cache::new must succeed: there is room");
    let row = |x: &Tensor, t: usize| -> Vec<f32> {
        x.index_axis(ndarray::Axis(0), t).iter().copied().collect()
    };
    for t in 0..n {
        let call = format!("push of position {t} of {n}");
        let (keys, values) = (row(&keys, t), row(&values, t));
        let pushed = check::assert_accepts(&call, || cache.push(&keys, &values));
        assert_done(&call, pushed);
        assert_eq!(cache.len(), t + 1, "positions after {call}");
    }
    // The documented limit of scratch, and no more.
    let bytes = 6 * positions + 10 * dim + SLACK;
    let (mut scratch, _) = arena_of(bytes);
    let mut out = vec![f32::NAN; q.len()];
    let q: Vec<f32> = q.iter().copied().collect();
    let call = format!("attend with {bytes} bytes of scratch, {n} of {positions} positions");
    let done = check::assert_accepts(&call, || cache.attend(&q, scratch.scope(), &mut out));
    assert_done(&call, done);
    // A second call returns the same, because attention does not change the cache.
    let mut again = vec![f32::NAN; q.len()];
    cache.attend(&q, scratch.scope(), &mut again).expect("attend must succeed a second time");
    assert_eq!(bits(&out), bits(&again), "{call}: the second answer differs from the first");
    tensor(case.tensor("q").shape(), out)
}

#[test]
pub(super) fn task_4_attend_matches_pytorch() {
    check::resting_on(&[INT8, BUDGET], || {
        let fixtures = fixtures();
        for name in fixtures.cases("task_4_attend/") {
            let case = fixtures.case(&name);
            case.check("output", &attention(&case, 12));
        }
        let case = fixtures.case("task_4_attend/varied");
        case.check("output", &attention(&case, 9));
    });
}

/// The scores are so far below 0 that e to their power is 0.
#[test]
fn task_4_attend_with_very_negative_scores() {
    check::resting_on(&[INT8, BUDGET], || {
        let (mut arena, _) = arena_of(4000);
        let mut cache = Cache::new(&mut arena, &cache_shape(1, 2), 3)
            .expect("Cache::new must succeed: there is room");
        for _ in 0..3 {
            cache.push(&[-40.0, -40.0], &[1.0, -1.0]).expect("push must succeed: there is room");
        }
        let mut out = [f32::NAN; 2];
        let call = "attend to three equal positions with scores of about -2263";
        let done =
            check::assert_accepts(call, || cache.attend(&[40.0, 40.0], arena.scope(), &mut out));
        assert_done(call, done);
        let [a, b] = out;
        assert!(
            (a - 1.0).abs() < 1e-4 && (b + 1.0).abs() < 1e-4,
            "{call}: found {out:?}, expected [1, -1], the value of all three"
        );
    });
}

/// 600 equal positions have equal weights, and the sums are as large as possible.
#[test]
fn task_4_attend_over_600_positions_does_not_overflow() {
    check::resting_on(&[INT8, BUDGET], || {
        let (mut arena, _) = arena_of(40_000);
        let mut cache = Cache::new(&mut arena, &cache_shape(1, 2), 600)
            .expect("Cache::new must succeed: there is room");
        for _ in 0..600 {
            cache.push(&[0.5, 0.25], &[1.0, -1.0]).expect("push must succeed: there is room");
        }
        let mut out = [f32::NAN; 4];
        let call = "attend to 600 equal positions with the values 1 and -1";
        let done = check::assert_accepts(call, || {
            cache.attend(&[1.0, 2.0, -1.0, 0.0], arena.scope(), &mut out)
        });
        assert_done(call, done);
        let near =
            out.iter().zip([1.0, -1.0, 1.0, -1.0]).all(|(x, y): (&f32, f32)| (x - y).abs() < 1e-4);
        assert!(near, "{call}: found {out:?}, expected the values themselves");
    });
}

#[test]
fn task_4_push_to_full_cache_returns_an_error() {
    check::resting_on(&[INT8, BUDGET], || {
        let (mut arena, _) = arena_of(4000);
        let mut cache = Cache::new(&mut arena, &cache_shape(2, 6), 3)
            .expect("Cache::new must succeed: there is room");
        let rows = random(5, &[4, 24]);
        let row = |t: usize| values(&rows.index_axis(ndarray::Axis(0), t).to_owned());
        for t in 0..3 {
            cache
                .push(&row(t)[..12], &row(t)[12..])
                .expect("push must succeed: there is room for three positions");
        }
        let attend = |cache: &Cache<'_>, scratch: Arena<'_>| {
            let mut out = [0.0; 24];
            cache.attend(&row(3), scratch, &mut out).map(|()| bits(&out))
        };
        let before = attend(&cache, arena.scope());
        let call = "push of a fourth position in a cache of three";
        let found = check::assert_refuses(call, || cache.push(&row(3)[..12], &row(3)[12..]));
        check::assert_answer(call, &found, &Err(Error::Context { positions: 3 }));
        check::assert_answer("positions after the refused push", &cache.len(), &3);
        assert_eq!(
            attend(&cache, arena.scope()),
            before,
            "{call} must not change the other positions, but does"
        );
        // Too little scratch must be an error, not a panic.
        let found = check::assert_refuses("attend with 16 bytes of scratch", || {
            attend(&cache, arena_of(16).0)
        });
        assert!(
            matches!(found, Err(Error::Full { budget: 16, .. })),
            "16 bytes of scratch: found {found:?}, expected Error::Full"
        );
    });
}

/// If scratch is large enough for the first token, it is large enough for the last.
#[test]
fn task_4_attend_scratch_is_independent_of_the_position() {
    check::resting_on(&[INT8, BUDGET], || {
        let (mut arena, _) = arena_of(40_000);
        let mut cache = Cache::new(&mut arena, &cache_shape(1, 2), 100)
            .expect("Cache::new must succeed: there is room");
        let mut peaks = Vec::new();
        for _ in 0..100 {
            cache.push(&[0.5, 0.25], &[1.0, -1.0]).expect("push must succeed: there is room");
            let (arena, mine) = arena_of(1000);
            let call = "attend with 1000 bytes of scratch";
            let mut out = [0.0; 2];
            let done = check::assert_accepts(call, || cache.attend(&[1.0, 2.0], arena, &mut out));
            assert_done(call, done);
            peaks.push(mine.peak());
        }
        let call = "bytes of scratch that attend takes at the first of 100 positions; expected as \
                    many as at the last";
        check::assert_answer(call, &peaks[0], &peaks[99]);
    });
}

#[test]
pub(super) fn task_4_mlp_is_independent_of_the_chunk_size() {
    check::resting_on(&[INT8, BUDGET, STORE], || {
        let (file, fixtures, shape) = (file(), fixtures(), shape());
        let case = fixtures.case("task_4_mlp/inner");
        let x = case.numbers("x");
        let mut steps = vec![0; x.len()];
        let x = Activations::of(&x, &mut steps);
        let parts = [Component::Gate, Component::Up, Component::Down];
        let bytes = parts.map(|part| shape.size(part).0 * shape.row_bytes(part));
        let mut first: Option<Vec<u32>> = None;
        for chunk in [shape.row_bytes(Component::Down), 1000, 1 << 16] {
            let asked = RefCell::default();
            let mut store =
                Store::open(Device::new(&file, &asked)).expect("Store::open must accept this file");
            // The documented limit of scratch, and no more.
            let scratch_bytes = 6 * shape.intermediate + 4 * OUTPUTS + SLACK;
            let (scratch, _) = arena_of(scratch_bytes);
            let mut chunk = vec![0; chunk];
            let mut out = vec![f32::NAN; shape.hidden];
            let call = format!(
                "mlp with {} bytes of weights at once, {scratch_bytes} of scratch",
                chunk.len()
            );
            let done =
                check::assert_accepts(&call, || mlp(&mut store, x, &mut chunk, scratch, &mut out));
            assert_done(&call, done);
            case.check("output", &tensor(&[shape.hidden], out.clone()));
            let first = first.get_or_insert_with(|| bits(&out));
            assert_eq!(&bits(&out), first, "{call}: the bits differ from those with another chunk");
            let counts = store.counts();
            check::assert_answer(
                &format!("{call}: (bytes read, seeks). Read each weight once, from front to back"),
                &(counts.bytes, counts.seeks),
                &(bytes.iter().sum::<usize>() as u64, 1),
            );
        }
        let (scratch, _) = arena_of(16);
        let (mut chunk, mut out) = (vec![0; 1000], vec![0.0; shape.hidden]);
        let found = check::assert_refuses("mlp with 16 bytes of scratch", || {
            mlp(&mut open(&file), x, &mut chunk, scratch, &mut out)
        });
        assert!(
            matches!(found, Err(Error::Full { budget: 16, .. })),
            "16 bytes of scratch: found {found:?}, expected Error::Full"
        );
    });
}
