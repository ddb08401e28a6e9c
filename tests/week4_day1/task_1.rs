//! Week 4, day 1, task 1: sizes, strides, and the byte of an element.

use tiny_llm::week4::layout::Layout;
use tiny_llm_formats::gguf::TensorType::{F16, F32, Q4_0, Q4_K, Q8_0};
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_panics};

use super::{each, four, kind, list, numbers};
use tiny_llm_harness::messages::{assert_good, assert_refused};

#[test]
pub(super) fn task_1_new_and_from_torch_return_packed_layouts() {
    each("task_1_packed/", |case| {
        let (shape, name) = (list(case.value("shape")), case.value("type").as_str());
        let tensor_type = kind(name.expect("a name"));
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let expected = (four(case.value("ne")), four(case.value("nb")), 0);
        let call = format!("{}: Layout::new({tensor_type}, {reversed:?})", case.name());
        let found = assert_good(&call, || Layout::new(tensor_type, &reversed));
        assert_answer(&format!("{call}: ne, nb, offset"), &numbers(&found), &expected);
        let call = format!("{}: Layout::from_torch({tensor_type}, {shape:?})", case.name());
        let found = assert_good(&call, || Layout::from_torch(tensor_type, &shape));
        assert_answer(&format!("{call}: ne, nb, offset"), &numbers(&found), &expected);
    });
}

/// Uses layouts that are written out here, so that it needs no other function.
#[test]
pub(super) fn task_1_byte_of_returns_the_elements_offset() {
    each("task_1_packed/", |case| {
        let tensor_type = kind(case.value("type").as_str().expect("a name"));
        let (ne, nb) = (four(case.value("ne")), four(case.value("nb")));
        for offset in [0, 36 * tensor_type.block_bytes()] {
            let layout = Layout { tensor_type, ne, nb, offset };
            for at in case.value("at").as_array().expect("a list") {
                let (index, byte) = (four(&at[0]), list(&at[1])[0]);
                let call = format!("{}: {layout:?}, byte_of({index:?})", case.name());
                let found = assert_accepts(&call, || layout.byte_of(index));
                assert_answer(&call, &found, &(byte + offset));
            }
        }
    });
    let odd = Layout { tensor_type: F32, ne: [3, 2, 1, 1], nb: [40, 4, 80, 80], offset: 8 };
    let call = format!("strides in arbitrary order: {odd:?}");
    let found: Vec<usize> = (0..6).map(|i| odd.byte_of([i % 3, i / 3, 0, 0])).collect();
    assert_answer(
        &format!("{call}, byte_of for all six elements"),
        &found,
        &vec![8, 48, 88, 12, 52, 92],
    );
}

#[test]
fn task_1_new_and_from_torch_reject_invalid_sizes() {
    assert_refused("Layout::new(F32, [1, 2, 3, 4, 5])", &["5"], || {
        Layout::new(F32, &[1, 2, 3, 4, 5])
    });
    assert_refused("Layout::new(F32, [3, 0])", &["[3, 0]"], || Layout::new(F32, &[3, 0]));
    assert_refused("Layout::new(Q4_0, [48, 2])", &["48", "32", "Q4_0"], || {
        Layout::new(Q4_0, &[48, 2])
    });
    assert_refused("Layout::new(Q4_K, [32, 8])", &["32", "256", "Q4_K"], || {
        Layout::new(Q4_K, &[32, 8])
    });
    assert_refused(
        "Layout::from_torch(Q8_0, [32, 3]), with rows of 3 elements",
        &["3", "32"],
        || Layout::from_torch(Q8_0, &[32, 3]),
    );
    let half = 1 << (usize::BITS / 2);
    let too_large = [
        vec![half, half],
        vec![half, half / 4, 1, 1],
        vec![2, half, half, half],
        // Every stride fits in a usize, but the total does not.
        vec![1, half, half / 8, 8],
    ];
    for sizes in too_large {
        assert_refused(
            &format!("Layout::new(F32, {sizes:?}), more bytes than a usize can count"),
            &[],
            || Layout::new(F32, &sizes),
        );
    }
    assert_good("Layout::new(F16, []), a single number", || Layout::new(F16, &[]));
}

#[test]
fn task_1_byte_of_panics_on_out_of_range_index() {
    let layout = Layout { tensor_type: F32, ne: [2, 4, 1, 1], nb: [4, 8, 32, 32], offset: 0 };
    for index in [[2, 0, 0, 0], [0, 4, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] {
        assert_panics(&format!("{layout:?}, byte_of({index:?})"), || layout.byte_of(index));
    }
}
