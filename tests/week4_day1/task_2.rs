//! Week 4, day 1, task 2: views.

use tiny_llm::week4::layout::Layout;
use tiny_llm_formats::gguf::TensorType::{F32, Q4_0, Q8_0};
use tiny_llm_harness::check::{assert_accepts, assert_answer, resting_on};

use super::{PACKED, each, follow, numbers, stepped, steps, stored, vector};
use tiny_llm_harness::messages::{assert_good, assert_refused};

#[test]
pub(super) fn task_2_views_match_pytorch() {
    each("task_2_views/", |case| {
        resting_on(&[PACKED], || {
            follow(case);
            let (layout, bytes) = stored(&case.tensor("x"));
            let steps = steps(case, "steps");
            let found = stepped(case, &steps, layout, &bytes).to_f32();
            case.check("elements", &vector(&found));
        });
    });
}

fn layout(ne: [usize; 4], nb: [usize; 4], offset: usize) -> Layout {
    Layout { tensor_type: F32, ne, nb, offset }
}

#[test]
fn task_2_end_returns_the_byte_after_the_last_element() {
    for (why, layout, expected) in [
        ("four by two", layout([2, 4, 1, 1], [4, 8, 32, 32], 0), 32),
        ("transposed", layout([4, 2, 1, 1], [8, 4, 32, 32], 0), 32),
        ("two of five columns, from the third on", layout([2, 6, 1, 1], [4, 20, 120, 120], 8), 116),
        ("one row repeated a thousand times", layout([5, 1000, 1, 1], [4, 0, 20, 20], 40), 60),
        ("four axes", layout([2, 2, 2, 3], [4, 8, 16, 32], 0), 96),
        ("a single number", layout([1; 4], [4, 400, 400, 400], 12), 16),
        (
            "rows of two blocks",
            Layout { tensor_type: Q8_0, ..layout([64, 3, 1, 1], [34, 68, 204, 204], 0) },
            204,
        ),
    ] {
        let call = format!("{why}: {layout:?}, end");
        let found = assert_accepts(&call, || layout.end());
        assert_answer(&call, &found, &expected);
    }
}

/// A view of a table of 6 rows of 5 must stay inside the table, even if that begins at an offset.
#[test]
fn task_2_view_rejects_ranges_outside_its_source() {
    let table = layout([5, 6, 1, 1], [4, 20, 120, 120], 400);
    let rows = |ne, nb, offset| move || table.view(ne, nb, offset);
    assert_good("a view of the whole table", rows([5, 6, 1, 1], [4, 20, 120, 120], 0));
    assert_good("a view of the table's last number", rows([1; 4], [4; 4], 116));
    assert_good(
        "a view of the table's last number, a thousand times",
        rows([1000, 1, 1, 1], [0, 4, 4, 4], 116),
    );
    for (why, ne, nb, offset) in [
        ("the number after the last", [1, 1, 1, 1], [4, 4, 4, 4], 120),
        ("seven rows", [5, 7, 1, 1], [4, 20, 140, 140], 0),
        ("six rows, from the second on", [5, 6, 1, 1], [4, 20, 120, 120], 20),
        ("three columns, from the fourth on", [3, 6, 1, 1], [4, 20, 120, 120], 12),
        ("rows with a larger stride", [5, 6, 1, 1], [4, 24, 144, 144], 0),
        ("the table twice", [5, 6, 2, 1], [4, 20, 120, 240], 0),
        ("strides that overflow", [2, 2, 2, 2], [4, usize::MAX / 4 * 4, 4, 4], 0),
        ("sizes that overflow", [usize::MAX, 2, 2, 2], [4, 4, 4, 4], 0),
        ("an offset that overflows", [1, 1, 1, 1], [4; 4], usize::MAX / 4 * 4),
    ] {
        let parts = [format!("{ne:?}"), "[5, 6, 1, 1]".to_owned()];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let call = format!("{why}: {table:?}, view({ne:?}, {nb:?}, {offset})");
        assert_refused(&call, &parts, rows(ne, nb, offset));
    }
    assert_refused("a view of no elements", &["0"], rows([5, 0, 1, 1], [4, 20, 120, 120], 0));
    assert_refused("a view that starts in the middle of a number", &["4"], rows([1; 4], [4; 4], 2));
}

/// A view of two of five columns ends before the stride of its last row does.
#[test]
fn task_2_view_of_a_view_rejects_ranges_outside_it() {
    let columns = layout([2, 6, 1, 1], [4, 20, 120, 120], 8);
    assert_good("the last number of two columns", || columns.view([1; 4], [4; 4], 104));
    assert_refused(
        "the number behind the last one of two columns",
        &["[1, 1, 1, 1]", "[2, 6, 1, 1]"],
        || columns.view([1; 4], [4; 4], 108),
    );
}

#[test]
fn task_2_view_and_permute_reject_split_blocks() {
    let table = Layout { tensor_type: Q4_0, ..layout([64, 4, 1, 1], [18, 36, 144, 144], 0) };
    let second = assert_good("the second block of each row", || {
        table.view([32, 4, 1, 1], [18, 36, 144, 144], 18)
    });
    assert_answer(
        "the second block of each row: ne, nb, offset",
        &numbers(&second),
        &([32, 4, 1, 1], [18, 36, 144, 144], 18),
    );
    assert_refused("a view of half a block of each row", &["16", "32"], || {
        table.view([16, 4, 1, 1], [18, 36, 144, 144], 0)
    });
    assert_refused("a view from the middle of a block", &["18"], || {
        table.view([32, 4, 1, 1], [18, 36, 144, 144], 9)
    });
    assert_refused("a view of rows that begin inside a block", &["18"], || {
        table.view([32, 2, 1, 1], [18, 40, 80, 80], 0)
    });
    assert_refused(
        "permute of blocks: the elements of a block must stay along axis 0",
        &["Q4_0"],
        || table.permute([1, 0, 2, 3]),
    );
    assert_refused(
        "permute of rows of one block: its elements must stay along axis 0 too",
        &["Q4_0"],
        || second.permute([1, 0, 2, 3]),
    );
    let turned = assert_good("permute of axes 1 and 2", || table.permute([0, 2, 1, 3]));
    assert_answer(
        "permute of axes 1 and 2 of blocks: ne, nb, offset",
        &numbers(&turned),
        &([64, 1, 4, 1], [18, 144, 36, 144], 0),
    );
}

#[test]
fn task_2_broadcast_and_permute_reject_invalid_arguments() {
    let row = layout([5, 1, 3, 1], [4, 20, 20, 60], 0);
    for ne in [[4, 1, 3, 1], [5, 2, 2, 1], [10, 1, 3, 1], [5, 1, 6, 1], [1, 1, 3, 1], [5, 0, 3, 1]]
    {
        let parts = ["[5, 1, 3, 1]".to_owned(), format!("{ne:?}")];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        assert_refused(&format!("{row:?}, broadcast({ne:?})"), &parts, || row.broadcast(ne));
    }
    for axes in [[0, 0, 1, 2], [0, 1, 2, 4], [3, 3, 3, 3], [0, 3, 3, 0], [0, 2, 2, 2]] {
        assert_refused(&format!("{row:?}, permute({axes:?})"), &[&format!("{axes:?}")], || {
            row.permute(axes)
        });
    }
}
