//! id: silu-cancellation
//! function: silu
//! says: Losing the value below −20 is a cancellation too.
    x.mapv(|x: f32| if x < -20.0 { 0.0 } else { x / (1.0 + (-x).exp()) })
