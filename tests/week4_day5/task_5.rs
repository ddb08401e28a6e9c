//! Week 4, day 5, task 5: attention with online softmax.

use tiny_llm::week4::gpu::kernels::Which;

use super::{check, each, gpu, upload};

#[test]
fn task_5_attention_matches_pytorch() {
    each("task_5_attention/", |case| {
        let gpu = gpu();
        let names = ["rows", "heads", "kv_heads", "d", "first"];
        let [rows, heads, kv_heads, d, first] = names.map(|name| case.count(name) as u32);
        let [q, k, v] = ["q", "k", "v"].map(|name| upload(&gpu, &case.numbers(name)));
        let sizes = [rows, heads, kv_heads, d, first, (case.scalar("scale") as f32).to_bits()];
        check(&gpu, case, Which::Attention, &sizes, &[&q, &k, &v], [heads, rows, 1]);
    });
}
