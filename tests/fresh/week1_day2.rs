//! Week 1, day 2, on fresh inputs.

use ndarray::Array2;
use tiny_llm::week1::rope::{
    RopeForm, RopeTables, half_split_to_interleaved, inverse_frequencies, rope_at_positions,
    rope_half_split, rope_interleaved,
};
use tiny_llm_harness::fresh::Fresh;

/// Returns tables of arbitrary numbers, to detect a rotation that computes its own cosines.
fn tables(fresh: &Fresh, positions: usize, half: usize) -> RopeTables {
    let shape = [positions, half];
    RopeTables { cos: fresh.tensor(&shape), sin: fresh.tensor(&shape) }
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day2 task 1");
    for _ in 0..3 {
        let (dim, base) = (2 * fresh.from_to(1, 16), 100.0 + 20_000.0 * fresh.uniform() as f32);
        fresh.answers("frequencies", &inverse_frequencies(dim, base), 1e-5);
    }
    let (pairs, positions) = (fresh.from_to(2, 6), fresh.from_to(5, 20));
    let frequencies: Vec<f32> = (0..pairs).map(|_| fresh.uniform() as f32).collect();
    let tables = RopeTables::new(&frequencies, positions);
    fresh.answer("cosines", &tables.cos, 1e-5);
    fresh.answer("sines", &tables.sin, 1e-5);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day2 task 2");
    let (half, length, offset) = (fresh.from_to(2, 5), fresh.from_to(2, 5), fresh.from_to(0, 6));
    let (tables, x) = (tables(&fresh, 12, half), fresh.tensor(&[2, 3, length, 2 * half]));
    fresh.answer("interleaved", &rope_interleaved(&x, &tables, offset), 1e-5);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day2 task 3");
    let (half, length, offset) = (fresh.from_to(2, 5), fresh.from_to(2, 5), fresh.from_to(0, 6));
    let (tables, x) = (tables(&fresh, 12, half), fresh.tensor(&[2, 3, length, 2 * half]));
    fresh.answer("half-split", &rope_half_split(&x, &tables, offset), 1e-5);
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week1-day2 task 4");
    let (tables, x) = (tables(&fresh, 9, 3), fresh.tensor(&[2, 3, 4, 6]));
    let positions = Array2::from_shape_simple_fn((2, 4), || fresh.below(9));
    for form in [RopeForm::Interleaved, RopeForm::HalfSplit] {
        let found = rope_at_positions(&x, &tables, &positions, form);
        fresh.answer("at positions", &found, 1e-5);
    }
    let (heads, half) = (fresh.from_to(2, 4), fresh.from_to(2, 4));
    let weight = fresh.tensor(&[heads * 2 * half, 5]);
    fresh.answer("reordered", &half_split_to_interleaved(&weight, heads), 0.0);
}
