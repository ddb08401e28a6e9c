//! Week 4, day 1, task 3: contiguous or not.

use tiny_llm::week4::{layout::Layout, strided::Strided};
use tiny_llm_formats::gguf::TensorType::{F16, F32, Q4_0};
use tiny_llm_harness::check::{assert_accepts, assert_answer, resting_on};

use super::{PACKED, VIEWS, each, follow, numbers, stepped, steps, stored, vector};
use tiny_llm_harness::messages::{assert_good, assert_refused};

/// Name, sizes, strides, whether the whole layout is contiguous, whether each row is.
type Line = (&'static str, [usize; 4], [usize; 4], bool, bool);

const LINES: [Line; 11] = [
    ("packed", [2, 4, 3, 2], [4, 8, 32, 96], true, true),
    ("transposed", [4, 2, 1, 1], [8, 4, 32, 32], false, false),
    ("two of five columns", [2, 6, 1, 1], [4, 20, 120, 120], false, true),
    ("heads and positions swapped", [5, 3, 7, 1], [4, 140, 20, 420], false, true),
    ("one row repeated four times", [5, 4, 1, 1], [4, 0, 20, 20], false, true),
    ("one number repeated in a row", [5, 1, 1, 1], [0, 4, 4, 4], false, false),
    ("a single row, whose stride is never used", [5, 1, 3, 1], [4, 1000, 20, 7], true, true),
    ("a single column, whose stride is never used", [1, 5, 1, 1], [40, 4, 20, 20], true, true),
    ("a column of a table", [1, 6, 1, 1], [4, 20, 120, 120], false, true),
    ("a gap between the steps of axis 2", [2, 2, 2, 1], [4, 8, 20, 40], false, true),
    ("a gap between the steps of axis 3", [2, 2, 2, 2], [4, 8, 16, 40], false, true),
];

#[test]
pub(super) fn task_3_is_contiguous_and_has_whole_rows() {
    for (why, ne, nb, all, rows) in LINES {
        let layout = Layout { tensor_type: F32, ne, nb, offset: 8 };
        let call = format!("{why}: {layout:?}");
        let found = assert_accepts(&call, || (layout.is_contiguous(), layout.has_whole_rows()));
        assert_answer(&format!("{call}: is_contiguous, has_whole_rows"), &found, &(all, rows));
    }
    for (why, ne, nb, all, rows) in [
        ("rows of three blocks", [96, 5, 1, 1], [18, 54, 270, 270], true, true),
        ("one block of each row", [32, 5, 1, 1], [18, 54, 270, 270], false, true),
        ("every other block", [64, 5, 1, 1], [36, 72, 360, 360], false, false),
        ("one block", [32, 1, 1, 1], [36, 72, 360, 360], true, true),
    ] {
        let layout = Layout { tensor_type: Q4_0, ne, nb, offset: 18 };
        let call = format!("{why}: {layout:?}");
        let found = assert_accepts(&call, || (layout.is_contiguous(), layout.has_whole_rows()));
        assert_answer(&format!("{call}: is_contiguous, has_whole_rows"), &found, &(all, rows));
    }
}

/// Copies the tensors of task 2 and of reshapes.
#[test]
fn task_3_contiguous_copies_views_in_order() {
    for prefix in ["task_2_views/", "task_3_reshape/"] {
        each(prefix, |case| {
            resting_on(&[PACKED, VIEWS], || {
                let (layout, bytes) = stored(&case.tensor("x"));
                let view = stepped(case, &steps(case, "steps"), layout, &bytes);
                let contiguous = case.value("contiguous").as_bool();
                let found = assert_accepts(case.name(), || view.layout.is_contiguous());
                let what = format!("{}: {:?}, is_contiguous", case.name(), view.layout);
                assert_answer(&what, &Some(found), &contiguous);
                let copy = assert_accepts(case.name(), || view.contiguous());
                let values: Vec<f32> = copy
                    .chunks_exact(4)
                    .map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")))
                    .collect();
                case.check("elements", &vector(&values));
            });
        });
    }
}

#[test]
fn task_3_contiguous_copies_blocks_and_f16_bytes() {
    // Three rows of two blocks. One copy takes the second block of each row. Another reorders f16.
    let bytes: Vec<u8> = (0..108).collect();
    let table = Layout { tensor_type: Q4_0, ne: [64, 3, 1, 1], nb: [18, 36, 108, 108], offset: 0 };
    let second = Layout { ne: [32, 3, 1, 1], offset: 18, ..table };
    let whole = assert_good("the table", || Strided::new(table, &bytes));
    assert_answer("a copy of a packed table", &whole.contiguous(), &bytes);
    let second = assert_good("the second block of each row", || Strided::new(second, &bytes));
    let expected: Vec<u8> = [18..36, 54..72, 90..108].into_iter().flatten().collect();
    assert_answer("a copy of the second block of each row", &second.contiguous(), &expected);
    let halves = Layout { tensor_type: F16, ne: [2, 3, 1, 1], nb: [36, 2, 6, 6], offset: 4 };
    let halves = assert_good("two columns of f16", || Strided::new(halves, &bytes));
    let expected = [[4, 5], [40, 41], [6, 7], [42, 43], [8, 9], [44, 45]].concat();
    assert_answer("a copy of two-byte numbers", &halves.contiguous(), &expected);
}

#[test]
fn task_3_reshape_of_contiguous_layouts() {
    each("task_3_reshape/", |case| resting_on(&[PACKED, VIEWS], || follow(case)));
    let blocks =
        Layout { tensor_type: Q4_0, ne: [64, 4, 1, 1], nb: [18, 36, 144, 144], offset: 36 };
    let found =
        assert_good("reshape of rows of two blocks to rows of four", || blocks.reshape(&[128, 2]));
    assert_answer(
        "reshape of blocks: ne, nb, offset",
        &numbers(&found),
        &([128, 2, 1, 1], [18, 72, 144, 144], 36),
    );
}

#[test]
fn task_3_reshape_rejects_bad_sizes_and_noncontiguous_layouts() {
    let table = Layout { tensor_type: F32, ne: [12, 6, 1, 1], nb: [4, 48, 288, 288], offset: 0 };
    let parts = ["[12, 6, 1, 1]", "[5, 15]"];
    assert_refused("reshape of 72 numbers to 75", &parts, || table.reshape(&[5, 15]));
    let turned = Layout { ne: [6, 12, 1, 1], nb: [48, 4, 288, 288], ..table };
    assert_refused(
        "reshape of a transposed table to one row",
        &["[6, 12, 1, 1]", "contiguous"],
        || turned.reshape(&[72]),
    );
    let shared = Layout { ne: [12, 6, 1, 1], nb: [4, 0, 48, 48], ..table };
    assert_refused(
        "reshape of one row repeated six times to one row",
        &["[12, 6, 1, 1]", "contiguous"],
        || shared.reshape(&[72]),
    );
    let apart = Layout { nb: [4, 64, 384, 384], ..table };
    assert_refused(
        "reshape of rows with gaps between them to twice three of these rows",
        &["[12, 6, 1, 1]", "contiguous"],
        || apart.reshape(&[12, 3, 2]),
    );
    let blocks = Layout { tensor_type: Q4_0, ne: [64, 4, 1, 1], nb: [18, 36, 144, 144], offset: 0 };
    assert_refused("reshape to rows of half a block", &["16", "32"], || blocks.reshape(&[16, 16]));
}
