//! Week 4, day 5, task 4: tiles in shared memory.

use tiny_llm::week4::gpu::kernels::Which;
use tiny_llm_harness::check::resting_on;

use super::{MAT_VEC, check, each, gpu, matrix, type_of, upload};

#[test]
pub(super) fn task_4_mat_mat_matches_pytorch() {
    resting_on(&[MAT_VEC], || {
        each("task_4_mat_mat/", |case| {
            let gpu = gpu();
            let [rows, k, columns] = ["rows", "k", "columns"].map(|name| case.count(name));
            let tensor_type = type_of(case);
            let weight = matrix(&gpu, case, "words", (tensor_type, rows, k));
            let x = upload(&gpu, &case.numbers("x"));
            let sizes = [k, rows, columns].map(|n| n as u32);
            let groups = [rows.div_ceil(16) as u32, columns.div_ceil(16) as u32, 1];
            check(&gpu, case, Which::MatMat(tensor_type), &sizes, &[&weight.bytes, &x], groups);
        });
    });
}

/// A tile of sixteen columns unpacks a block once, not once for each column. The test checks the
/// kernel's text, which must have workgroup memory and a barrier.
#[test]
fn task_4_mat_mat_shares_unpacked_weights_in_the_workgroup() {
    let text = tiny_llm::week4::gpu::mat_mat::mat_mat();
    for part in ["var<workgroup>", "workgroupBarrier()"] {
        assert!(
            text.contains(part),
            "mat_mat: found no {part}. Unpack each element once into the memory of the workgroup, \
             and use it for all sixteen columns"
        );
    }
}
