//! silu-cancellation: tanh form cancels
//! wrong body for week1-day4 task 2: mlp.rs, silu
    x.mapv(|x: f32| x * 0.5 * (1.0 + (0.5 * x).tanh()))
