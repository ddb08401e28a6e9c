//! id: min-negative
//! function: search_scale_and_min
//! says: A group of one negative value has a range of 0: its scale is 0 and its minimum that value's magnitude.
let importance = importance(x);
let top = f32::from(top);
let lowest = x.iter().fold(0f32, |lowest, &x| lowest.min(x));
let range = x.iter().fold(lowest, |highest, &x| highest.max(x)) - lowest;
let mut best = ScaleAndMin { scale: 0.0, min: 0.0 };
if range == 0.0 {
    return best;
}
let mut best_error = f32::INFINITY;
for quarters in TRIALS {
    let mut trial = ScaleAndMin { scale: range / (top + f32::from(quarters) / 4.0), min: -lowest };
    let mut codes = [0.0; N];
    for _ in 0..ROUNDS {
        let inverse = 1.0 / trial.scale;
        codes = x.map(|x| nearest(((x + trial.min) * inverse).clamp(0.0, top)));
        trial = fit_scale_and_min(x, &importance, &codes);
    }
    let error = x.iter().zip(&importance).zip(&codes).map(|((x, w), q)| w * (trial.scale * q - trial.min - x).powi(2)).sum();
    if error < best_error {
        (best_error, best) = (error, trial);
    }
}
best
