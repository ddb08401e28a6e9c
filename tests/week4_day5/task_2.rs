//! Week 4, day 5, task 2: threads that sum together.

use tiny_llm::week4::gpu::kernels::Which;

use super::{check, each, gpu, upload};

#[test]
pub(super) fn task_2_rms_norm_matches_pytorch() {
    each("task_2_norm/", |case| {
        let gpu = gpu();
        let (rows, width) = (case.count("rows") as u32, case.count("width") as u32);
        let (x, weight) = (case.numbers("x"), case.numbers("weight"));
        let (x, weight) = (upload(&gpu, &x), upload(&gpu, &weight));
        let sizes = [width, rows, (case.scalar("eps") as f32).to_bits()];
        // The workgroups of the last case are in rows, and one of them is too many.
        let groups = if rows == 5 { [2, 3, 1] } else { [rows, 1, 1] };
        check(&gpu, case, Which::RmsNorm, &sizes, &[&x, &weight], groups);
    });
}
