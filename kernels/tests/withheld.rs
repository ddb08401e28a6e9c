//! Withheld kernels panic. The switch affects the whole process, so this test has its own file.

use std::panic::catch_unwind;

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::{fused, integer, provided, rung::Rung, unpacked, withheld::withhold};

#[test]
fn a_withheld_kernel_panics_with_its_name() {
    let block = [1; 22];
    assert!(fused::dot_q5_0(&block, &[1.0; 32]).is_finite());
    withhold();
    let calls: [(&str, fn()); 4] = [
        ("fused::dot_q5_0", || _ = fused::dot_q5_0(&[1; 22], &[1.0; 32])),
        ("integer::dot_q5_0", || _ = integer::dot_q5_0(&[1; 22], &[])),
        ("unpacked::unpack_row", || unpacked::unpack_row(TensorType::Q8_0, &[1; 34], &mut [])),
        ("provided::kernel", || _ = provided::kernel(Rung::best(), TensorType::Q8_0, 1)),
    ];
    for (name, call) in calls {
        let message = catch_unwind(call).expect_err(name);
        let message = message.downcast_ref::<String>().expect("a text");
        assert!(message.contains(name), "{name}: {message}");
    }
}
