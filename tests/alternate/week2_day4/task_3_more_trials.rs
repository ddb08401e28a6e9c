//! function: search_scale_and_min
//! how: twice as many trials, and the best by min_by
let weights = importance(x);
let top = f32::from(top);
let lowest = x.iter().copied().fold(0.0, f32::min);
let highest = x.iter().copied().fold(lowest, f32::max);
if highest == lowest {
    return ScaleAndMin { scale: 0.0, min: -lowest };
}
let trial = |eighths: i32| {
    let mut found = ScaleAndMin { scale: (highest - lowest) / (top + eighths as f32 / 8.0), min: -lowest };
    let mut codes = [0.0; N];
    for _ in 0..ROUNDS {
        for i in 0..N {
            codes[i] = ((x[i] + found.min) / found.scale).round_ties_even().clamp(0.0, top);
        }
        found = fit_scale_and_min(x, &weights, &codes);
    }
    let error: f32 = (0..N).map(|i| weights[i] * (found.scale * codes[i] - found.min - x[i]).powi(2)).sum();
    (error, found)
};
(-8..=8).map(trial).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
