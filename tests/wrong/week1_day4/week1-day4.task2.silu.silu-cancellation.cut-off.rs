//! silu-cancellation: Losing the value below −20 is a cancellation too.
//! wrong body for week1-day4 task 2: mlp.rs, silu
    x.mapv(|x: f32| if x < -20.0 { 0.0 } else { x / (1.0 + (-x).exp()) })
