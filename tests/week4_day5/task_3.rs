//! Week 4, day 5, task 3: quantized weights as they are in the file, times vectors.

use tiny_llm::week4::gpu::kernels::Which;

use super::{check, each, gpu, matrix, type_of, upload};

#[test]
pub(super) fn task_3_mat_vec_matches_pytorch() {
    each("task_3_mat_vec/", |case| {
        let gpu = gpu();
        let [rows, k, columns] = ["rows", "k", "columns"].map(|name| case.count(name));
        let tensor_type = type_of(case);
        let weight = matrix(&gpu, case, "words", (tensor_type, rows, k));
        let x = upload(&gpu, &case.numbers("x"));
        let sizes = [k, rows, columns].map(|n| n as u32);
        // The workgroups are in two rows, and the last one may be too many.
        let groups = [rows.div_ceil(2) as u32, 2, columns as u32];
        check(&gpu, case, Which::MatVec(tensor_type), &sizes, &[&weight.bytes, &x], groups);
    });
}
