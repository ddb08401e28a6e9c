//! Week 2, day 2, task 3: the tensor table.

use tiny_llm::week2::gguf::{
    reader::Reader,
    table::{alignment, check_places, data_start, place, read_tensor},
};
use tiny_llm_formats::gguf::{TensorInfo, TensorType, Value};

use super::{
    FILE, assert_lines, assert_says, calmly, fixtures, followed, hex, list, metadata, outcome,
    refused, string, text,
};

#[test]
fn task_3_read_tensor_of_every_type_and_shape() {
    let case = fixtures().case("task_3_entries/every_type_and_shape");
    let lines = list(&case, "entries").iter().map(|entry| {
        let bytes = hex(&entry["bytes"]);
        let expected = format!("{}, then at {}", text(&entry["is"]), bytes.len());
        (outcome(&expected, &followed(&bytes), |r| read_tensor(r, 0)), expected)
    });
    assert_lines(
        "read_tensor: in each type, a matrix of three rows of two blocks, then tensors of one to \
         four axes",
        lines,
    );
}

/// Returns the bytes of an entry of the tensor table.
pub(super) fn table_entry(name: &str, axes: &[u64], type_id: u32, offset: u64) -> Vec<u8> {
    let axes_bytes: Vec<u8> = axes.iter().flat_map(|n| n.to_le_bytes()).collect();
    [
        &string(name)[..],
        &(axes.len() as u32).to_le_bytes(),
        &axes_bytes,
        &type_id.to_le_bytes(),
        &offset.to_le_bytes(),
    ]
    .concat()
}

#[test]
fn task_3_read_tensor_rejects_invalid_entries() {
    let cases: [(&str, Vec<u8>, &[&str]); 6] = [
        (
            "2^32 - 1 axes",
            [&string("a.weight")[..], &[255; 4], &[1; 64]].concat(),
            &["a.weight", "4294967295"],
        ),
        ("an axis of length 0", table_entry("a.weight", &[32, 0], 0, 0), &["a.weight", "0"]),
        ("2^62 numbers of 4 bytes", table_entry("a.weight", &[1 << 62], 0, 0), &["a.weight"]),
        (
            "2^32 rows of 2^32 numbers",
            table_entry("a.weight", &[1 << 32, 1 << 32], 0, 0),
            &["a.weight"],
        ),
        (
            "a product of axes that is 0 modulo 2^64",
            table_entry("a.weight", &[1 << 32, 1 << 31, 2, 1], 1, 0),
            &["a.weight"],
        ),
        (
            "the file ends inside the entry",
            table_entry("a.weight", &[32], 0, 0)[..30].to_vec(),
            &["a.weight"],
        ),
    ];
    for (name, bytes, parts) in cases {
        refused(name, &bytes, parts, |r| read_tensor(r, 3));
    }
}

#[test]
fn task_3_accepts_valid_edge_cases() {
    // 2³² + 32 weights are more than this file holds, but the entry is valid, and they are not 32.
    let bytes = table_entry("large", &[(1 << 32) + 32], 0, 0);
    let found = calmly("read_tensor", || read_tensor(&mut Reader::new(&bytes, FILE), 0));
    assert!(
        found.as_ref().is_ok_and(|found| found.shape == [(1 << 32) + 32]),
        "read_tensor of 2³² + 32 weights: found {found:?}, expected the shape [4294967328]"
    );
    let large = (1usize << 32) + 5;
    let found = data_start(large, 32);
    assert!(
        found == Some((1 << 32) + 32),
        "data_start({large}, 32): found {found:?}, expected 2³² + 32"
    );
    for power in 0..=20 {
        let found = calmly("alignment", || alignment(&metadata(Some(Value::U32(1 << power)))));
        assert!(
            found.as_ref().is_ok_and(|found| *found == 1 << power),
            "general.alignment = {}: found {found:?}, but any power of two is valid",
            1 << power
        );
        let found = data_start(5, 1 << power);
        let expected = if power < 3 { [5, 6, 8][power] } else { 1 << power };
        assert!(
            found == Some(expected),
            "data_start(5, {}): found {found:?}, expected {expected}",
            1 << power
        );
    }
}

#[test]
fn task_3_read_tensor_keeps_axes_of_length_1() {
    for axes in [&[32, 1][..], &[32, 1, 1], &[32, 1, 3], &[32, 3, 1, 1]] {
        let bytes = table_entry("a", axes, 0, 0);
        let found = calmly("read_tensor", || read_tensor(&mut Reader::new(&bytes, FILE), 0));
        let found = found.map(|info| info.shape).map_err(|error| error.to_string());
        let expected: Vec<usize> = axes.iter().rev().map(|&n| n as usize).collect();
        assert_eq!(
            found,
            Ok(expected),
            "read_tensor: shape of a tensor with the axes {axes:?} in the file (fastest first)"
        );
    }
}

#[test]
fn task_3_alignment() {
    let cases = [
        (None, "32"),
        (Some(64), "64"),
        (Some(1), "1"),
        (Some(8), "8"),
        (Some(4096), "4096"),
        (Some(0), "an error"),
        (Some(48), "an error"),
    ];
    let lines = cases.map(|(value, expected)| {
        let name = value.map_or("not set".to_owned(), |n| n.to_string());
        let found = calmly(&name, || alignment(&metadata(value.map(Value::U32))));
        let found = found.map_or("an error".to_owned(), |n| n.to_string());
        (format!("{name}: {found}"), format!("{name}: {expected}"))
    });
    assert_lines(
        "alignment: the value of general.alignment, 32 if there is none, or an error",
        lines,
    );
    let error = alignment(&metadata(Some(Value::U32(24))))
        .expect_err("alignment must refuse 24, which is not a power of two");
    assert_says("an alignment of 24", &error, &["general.alignment", "24"]);
    let error = alignment(&metadata(Some(Value::String("32".to_owned()))))
        .expect_err("alignment must refuse a string");
    assert_says("a string as alignment", &error, &["general.alignment"]);
}

#[test]
fn task_3_data_start_rounds_up_to_alignment() {
    let cases = [
        (0, 32),
        (1, 32),
        (31, 32),
        (32, 32),
        (33, 32),
        (100, 64),
        (128, 64),
        (129, 1),
        (4097, 4096),
    ];
    let expected = [0, 32, 32, 32, 64, 128, 128, 129, 8192];
    let lines = cases.into_iter().zip(expected).map(|((position, alignment), expected)| {
        let name = format!("a table that ends at {position}, alignment {alignment}");
        let found = calmly(&name, || data_start(position, alignment));
        (format!("{name}: {found:?}"), format!("{name}: {:?}", Some(expected)))
    });
    assert_lines("data_start", lines);
    assert_eq!(
        calmly("an alignment of 2^63", || data_start((1 << 63) + 1, 1 << 63)),
        None,
        "data_start: the result would be 2^64, which no usize can hold"
    );
}

pub(super) fn info(name: &str, offset: usize, size: usize) -> TensorInfo {
    TensorInfo {
        name: name.to_owned(),
        shape: vec![size / 4],
        tensor_type: TensorType::F32,
        offset,
        size,
    }
}

#[test]
fn task_3_place_returns_the_byte_range() {
    let lines = [(0, 12, 96, "96..108"), (64, 32, 96, "160..192"), (32, 4, 0, "32..36")].map(
        |(offset, size, start, expected)| {
            let name = format!("offset {offset}, {size} bytes, the data begins at {start}");
            (
                format!("{name}: {:?}", place(&info("a", offset, size), start)),
                format!("{name}: {expected}"),
            )
        },
    );
    assert_lines("place: a tensor's byte range, counted from the start of the file", lines);
}

#[test]
fn task_3_check_places_alignment_bounds_and_overlap() {
    /// Name, offsets and sizes of the tensors, alignment, length of the data, whether it is valid.
    type Places = (&'static str, &'static [(usize, usize)], usize, usize, bool);
    let cases: [Places; 18] = [
        (
            "three tensors, the third overlaps the second",
            &[(0, 40), (64, 68), (128, 8)],
            32,
            200,
            false,
        ),
        (
            "three tensors, the third ends after the data",
            &[(0, 40), (64, 40), (128, 80)],
            32,
            200,
            false,
        ),
        ("three tensors, the third is not aligned", &[(0, 40), (64, 40), (129, 8)], 32, 200, false),
        ("no tensors", &[], 32, 0, true),
        ("a tensor that ends with the data", &[(0, 40)], 32, 40, true),
        ("a tensor that ends a byte after the data", &[(0, 40)], 32, 39, false),
        ("a tensor that begins after the data", &[(0, 40), (96, 4)], 32, 90, false),
        ("two tensors with padding between them", &[(0, 40), (64, 40)], 32, 104, true),
        ("two adjacent tensors", &[(0, 64), (64, 40)], 32, 104, true),
        ("two tensors with a large gap", &[(0, 40), (256, 40)], 32, 300, true),
        ("a tensor that begins after the start of the data", &[(32, 40)], 32, 72, true),
        ("two overlapping tensors", &[(0, 68), (64, 40)], 32, 104, false),
        ("two tensors at the same offset", &[(0, 40), (0, 40)], 32, 104, false),
        ("two tensors in reverse order", &[(64, 40), (0, 40)], 32, 104, true),
        (
            "three tensors, the first overlaps the third",
            &[(0, 140), (160, 4), (128, 8)],
            32,
            200,
            false,
        ),
        ("a tensor that is not aligned to 32", &[(0, 16), (16, 16)], 32, 104, false),
        ("the same tensors with an alignment of 16", &[(0, 16), (16, 16)], 16, 104, true),
        ("an offset of almost 2^64", &[(usize::MAX - 31, 64)], 32, 104, false),
    ];
    let lines = cases.map(|(name, places, alignment, len, fine)| {
        let tensors: Vec<_> = places
            .iter()
            .enumerate()
            .map(|(i, &(offset, size))| info(&format!("t{i}"), offset, size))
            .collect();
        let found = calmly(name, || check_places(&tensors, alignment, len, FILE)).is_ok();
        let shown = |fine| format!("{name}: {}", if fine { "fine" } else { "an error" });
        (shown(found), shown(fine))
    });
    assert_lines("check_places", lines);
    // A name with a line feed. The message names the offset.
    for (offset, size, second) in [(33, 4, "33"), (64, 40, "64"), (192, 40, "192")] {
        let error = check_places(&[info("a", 0, 68), info("b\nc", offset, size)], 32, 200, FILE)
            .expect_err("check_places must refuse these places");
        assert_says("check_places", &error, &[second]);
    }
}
