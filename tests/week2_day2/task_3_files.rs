//! Week 2, day 2, task 3: whole files.

use anyhow::Result;
use tiny_llm::week2::gguf::{Gguf, table::data_start};
use tiny_llm_formats::gguf::MAGIC;
use tiny_llm_harness::fixtures::read;

use super::{FILE, assert_says, calmly, entry, fixtures, hex, list, task_3::table_entry, text};

/// Parses a whole file. Reports an unwritten task 3 before any other unwritten task.
fn parse(bytes: &[u8]) -> Result<Gguf> {
    let _ = data_start(0, 32);
    calmly("Gguf::parse", || Gguf::parse(bytes.to_vec().into(), FILE))
}

fn check_file(name: &str) {
    let case = fixtures().case(&format!("task_3_file/{name}"));
    let bytes = hex(case.value("file"));
    let gguf = parse(&bytes)
        .unwrap_or_else(|e| panic!("{name}: the file is valid, but it was refused: {e}"));
    assert_eq!(gguf.data_start, case.count("data_start"), "{name}: wrong start of the data");
    let found: Vec<_> =
        gguf.metadata.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
    assert_eq!(found, list(&case, "entries").iter().map(text).collect::<Vec<_>>());
    let tensors = list(&case, "tensors");
    assert_eq!(gguf.tensors.len(), tensors.len(), "{name}: number of tensors");
    for (found, expected) in gguf.tensors.iter().zip(tensors) {
        let size = |field: &str| read::<usize>(&expected[field]);
        let shape: Vec<usize> = read(&expected["shape"]);
        assert_eq!(
            (&found.name, &found.shape),
            (&text(&expected["name"]), &shape),
            "name and shape of a tensor"
        );
        assert_eq!(
            (found.tensor_type.to_string(), found.size),
            (text(&expected["type"]), size("size")),
            "tensor {}: type and size",
            found.name
        );
        let data = gguf
            .bytes_of(gguf.tensor(&found.name).expect("tensor must find every name of the table"));
        assert!(
            *data == bytes[size("start")..][..size("size")],
            "{}: bytes_of returns different bytes from the gguf package",
            found.name
        );
    }
    assert!(gguf.tensor("no.such.tensor").is_none() && gguf.required("no.such.tensor").is_err());
}

#[test]
fn task_3_parse_file_with_default_alignment() {
    check_file("aligned_to_32");
}

#[test]
fn task_3_parse_file_with_larger_alignment() {
    check_file("aligned_to_64");
}

#[test]
fn task_3_parse_file_with_smaller_alignment() {
    check_file("aligned_to_8");
}

/// Returns a file with one metadata entry and two tensors of 8 numbers each.
fn small_file() -> Vec<u8> {
    let head = [&MAGIC[..], &3u32.to_le_bytes(), &2u64.to_le_bytes(), &1u64.to_le_bytes()].concat();
    let table = [
        entry("general.alignment", 4, &32u32.to_le_bytes()),
        table_entry("a", &[4, 2], 0, 0),
        table_entry("b", &[8], 0, 32),
    ]
    .concat();
    let mut file = [head, table].concat();
    file.resize(file.len().next_multiple_of(32) + 64, 9);
    file
}

#[test]
fn task_3_parse_rejects_malformed_files() {
    let good = small_file();
    let gguf =
        parse(&good).unwrap_or_else(|e| panic!("this file is valid, but it was refused: {e}"));
    assert_eq!(
        gguf.tensors.iter().map(|t| gguf.bytes_of(t).to_vec()).collect::<Vec<_>>(),
        [[9; 32], [9; 32]]
    );
    // Replaces the first occurrence of `from`.
    let changed = |from: &[u8], to: &[u8]| {
        let at = good
            .windows(from.len())
            .position(|window| window == from)
            .expect("the file contains these bytes");
        [&good[..at], to, &good[at + from.len()..]].concat()
    };
    let b = table_entry("b", &[8], 0, 32);
    let cases: [(&str, Vec<u8>, &[&str]); 9] = [
        (
            "the same name twice",
            changed(&b, &table_entry("a", &[8], 0, 32)),
            &["tensor a", "twice"],
        ),
        ("an overlap", changed(&b, &table_entry("b", &[8], 0, 0)), &["tensor"]),
        (
            "an offset after the end",
            changed(&b, &table_entry("b", &[8], 0, 96)),
            &["tensor b", "96"],
        ),
        (
            "an offset of 2^63",
            changed(&b, &table_entry("b", &[8], 0, 1 << 63)),
            &["tensor b", "9223372036854775808"],
        ),
        (
            "more rows than the file has bytes for",
            changed(&b, &table_entry("b", &[9], 0, 32)),
            &["tensor b"],
        ),
        ("the last byte is missing", good[..good.len() - 1].to_vec(), &["tensor b"]),
        ("all data is missing", good[..good.len() - 64].to_vec(), &["tensor"]),
        ("an alignment of 0", changed(&32u32.to_le_bytes(), &[0; 4]), &["general.alignment", "0"]),
        ("a name with a line feed", changed(&b, &table_entry("b\nc", &[7], 8, 32)), &["tensor b"]),
    ];
    for (name, bytes, parts) in cases {
        match parse(&bytes) {
            Ok(_) => panic!(
                "{name}: the file was read, expected an error that mentions {}",
                parts.join(", ")
            ),
            Err(error) => assert_says(name, &error, parts),
        }
    }
}

#[test]
fn task_3_parse_does_not_panic_on_damaged_files() {
    let good = small_file();
    let check = |bytes: &[u8]| match parse(bytes) {
        // Every tensor that was read must be inside the file.
        Ok(gguf) => gguf
            .tensors
            .iter()
            .for_each(|t| assert_eq!(calmly("bytes_of", || gguf.bytes_of(t).len()), t.size)),
        Err(error) => assert_says("a damaged file", &error, &[]),
    };
    for n in 0..good.len() {
        assert!(
            parse(&good[..n]).is_err(),
            "Gguf::parse of only the first {n} of {} bytes returned no error, but this must be an \
             error",
            good.len()
        );
    }
    for at in 0..good.len() {
        for byte in [0, 1, 0x7F, 0x80, 0xFF, good[at] ^ 1, good[at].wrapping_add(1)] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            check(&bytes);
        }
        // Eight bytes at once: the largest possible count, length or offset.
        let mut bytes = good.clone();
        bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xFF);
        check(&bytes);
    }
}
