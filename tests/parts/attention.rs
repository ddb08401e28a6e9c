//! The definition of attention, for tests with random inputs.

/// Computes attention by its definition, in f64: `q [D]`, `keys` and `values [n, D]`.
pub(crate) fn by_definition(q: &[f32], keys: &[f32], values: &[f32], scale: f32) -> Vec<f64> {
    let d = q.len();
    let product =
        |k: &[f32]| -> f64 { q.iter().zip(k).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum() };
    let scores: Vec<f64> = keys.chunks_exact(d).map(|k| f64::from(scale) * product(k)).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = scores.iter().map(|s| (s - largest).exp()).sum();
    let share = |i: usize| -> f64 {
        let weighted = scores.iter().zip(values.chunks_exact(d));
        weighted.map(|(s, v)| (s - largest).exp() / total * f64::from(v[i])).sum()
    };
    (0..d).map(share).collect()
}
