//! Week 1, day 4, on fresh inputs.

use tiny_llm::week1::{
    mlp::{SwiGlu, silu},
    norm::RmsNorm,
};
use tiny_llm_harness::fresh::Fresh;

#[test]
fn task_1() {
    let fresh = Fresh::new("week1-day4 task 1");
    let e = fresh.from_to(3, 9);
    let norm = RmsNorm { weight: fresh.tensor(&[e]), eps: 0.01 + fresh.uniform() as f32 };
    let x = fresh.tensor(&[2, 3, e]);
    fresh.answer("norm", &norm.forward(&x), 1e-5);
    fresh.answer("of small numbers", &norm.forward(&(&x * 0.01)), 1e-5);
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week1-day4 task 2");
    let x = fresh.tensor(&[2, 8]);
    fresh.answer("silu", &silu(&x), 1e-5);
    fresh.answer("of large numbers", &silu(&(&x * 100.0)), 1e-3);
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week1-day4 task 3");
    let (e, i) = (fresh.from_to(2, 5), fresh.from_to(6, 9));
    let mlp = SwiGlu {
        gate_proj: fresh.tensor(&[i, e]),
        up_proj: fresh.tensor(&[i, e]),
        down_proj: fresh.tensor(&[e, i]),
    };
    let x = fresh.tensor(&[2, 3, e]);
    fresh.answer("mlp", &mlp.forward(&x), 1e-3);
}
