//! Week 2, day 2, task 3: random entries and places, and names with line feeds in messages.

use tiny_llm::week2::gguf::{
    reader::Reader,
    table::{check_places, read_tensor},
};
use tiny_llm_formats::gguf::{TensorInfo, TensorType};
use tiny_llm_harness::fixtures::random;

use super::{
    FILE, assert_says, calmly,
    task_3::{info, table_entry},
};

/// Returns `n` random whole numbers below `below`.
fn drawn(seed: u64, n: usize, below: usize) -> Vec<usize> {
    random(seed, &[n]).iter().map(|x| (((x + 2.0) / 4.0) * below as f32) as usize % below).collect()
}

#[test]
fn task_3_read_tensor_with_random_entries() {
    for seed in 0..300 {
        let draw = drawn(seed, 8, 1000);
        let tensor_type = TensorType::ALL[draw[0] % TensorType::ALL.len()];
        // Fastest axis first. Every third length is not a whole number of blocks.
        let blocks = draw[1] % 5 + 1;
        let mut axes = vec![
            (blocks * tensor_type.block_len() + usize::from(draw[2].is_multiple_of(3))) as u64,
        ];
        axes.extend(draw[3..].iter().take(draw[1] % 4).map(|n| (n % 7 + 1) as u64));
        let offset = draw[7] * 32;
        let bytes = table_entry("a.weight", &axes, tensor_type.id(), offset as u64);
        let what = format!(
            "read_tensor with axes {axes:?} (fastest first) in {tensor_type}, offset {offset}"
        );
        let mut reader = Reader::new(&bytes, FILE);
        let found = calmly(&what, || read_tensor(&mut reader, 0));
        let cols = axes[0] as usize;
        if !cols.is_multiple_of(tensor_type.block_len()) {
            let error = found.err().unwrap_or_else(|| {
                panic!("{what}: expected an error, because a row is not a whole number of blocks")
            });
            assert_says(&what, &error, &["a.weight"]);
            continue;
        }
        let rows: usize = axes[1..].iter().product::<u64>() as usize;
        let expected = TensorInfo {
            name: "a.weight".to_owned(),
            shape: axes.iter().rev().map(|&n| n as usize).collect(),
            tensor_type,
            offset,
            size: rows * (cols / tensor_type.block_len()) * tensor_type.block_bytes(),
        };
        let found =
            found.unwrap_or_else(|e| panic!("{what}: this is valid, but it was refused: {e}"));
        assert_eq!(
            (&found, reader.position()),
            (&expected, bytes.len()),
            "{what}: (entry, position of the reader)"
        );
    }
}

#[test]
fn task_3_check_places_with_random_places() {
    for seed in 0..2000 {
        let draw = drawn(seed, 12, 64);
        let alignment = 1 << (draw[0] % 4);
        let len = draw[1] + 24;
        let places: Vec<(usize, usize)> = draw[2..]
            .chunks_exact(2)
            .take(draw[0] / 4 % 6)
            .map(|pair| {
                (pair[0] / 8 * 8 + usize::from(pair[1].is_multiple_of(13)), pair[1] % 24 + 1)
            })
            .collect();
        let tensors: Vec<TensorInfo> = places
            .iter()
            .enumerate()
            .map(|(i, &(offset, size))| info(&format!("t{i}"), offset, size))
            .collect();
        // Byte by byte.
        let owners = |byte: usize| {
            places.iter().filter(|(offset, size)| (*offset..offset + size).contains(&byte)).count()
        };
        let fine = places
            .iter()
            .all(|(offset, size)| offset.is_multiple_of(alignment) && offset + size <= len)
            && (0..len).all(|byte| owners(byte) < 2);
        let what = format!(
            "check_places of {places:?} (offset, size), alignment {alignment}, {len} bytes of data"
        );
        let found = calmly(&what, || check_places(&tensors, alignment, len, FILE)).is_ok();
        assert!(
            found == fine,
            "{what}: found {}, expected {}: every tensor must be aligned and within the data, and \
             no two may overlap",
            if found { "fine" } else { "an error" },
            if fine { "fine" } else { "an error" }
        );
    }
}

#[test]
fn task_3_error_is_one_line_if_name_has_a_line_feed() {
    for (name, tensors) in [
        ("that is not aligned", [info("a", 0, 40), info("b\nc", 33, 4)]),
        ("that overlaps the one before", [info("a", 0, 68), info("b\r\nc", 64, 40)]),
        ("that ends after the data", [info("a", 0, 40), info("b\nc", 192, 40)]),
        ("with an offset of almost 2^64", [info("a", 0, 40), info("\n", usize::MAX - 31, 64)]),
    ] {
        let what = format!("check_places of a tensor {name}, whose name contains a line feed");
        let error = calmly(&what, || check_places(&tensors, 32, 200, FILE))
            .expect_err("check_places must refuse these places");
        assert_says(&what, &error, &["tensor"]);
    }
    for (what, bytes) in [
        ("no axes", table_entry("b\nc", &[], 0, 0)),
        ("an axis of length 0", table_entry("b\nc", &[0], 0, 0)),
        ("type 31", table_entry("b\nc", &[32], 31, 0)),
        ("half a block", table_entry("b\nc", &[16], 8, 0)),
        ("an entry that ends early", table_entry("b\nc", &[16], 8, 0)[..20].to_vec()),
    ] {
        let what = format!("read_tensor of {what}, with a line feed in the name");
        let error = calmly(&what, || read_tensor(&mut Reader::new(&bytes, FILE), 0))
            .expect_err("read_tensor must refuse this entry");
        assert_says(&what, &error, &["tensor"]);
    }
}

#[test]
fn task_3_read_tensor_error_names_index_if_name_is_invalid() {
    let not_utf8 = [&[1, 0, 0, 0, 0, 0, 0, 0, 0xff][..], &[0; 64]].concat();
    let too_long = [&[200, 0, 0, 0, 0, 0, 0, 0, b'a'][..], &[0; 64]].concat();
    for (what, bytes) in [("not UTF-8", not_utf8), ("longer than the file", too_long)] {
        for index in [0, 3, 117] {
            let what = format!("read_tensor of entry {index}, whose name is {what}");
            let error = calmly(&what, || read_tensor(&mut Reader::new(&bytes, FILE), index))
                .expect_err("read_tensor must refuse this name");
            assert_says(&what, &error, &[&format!("tensor {index}")]);
        }
    }
}

#[test]
fn task_3_read_tensor_accepts_only_known_types() {
    for id in (0..64).chain([255, 256, 1 << 16, u32::MAX]) {
        let bytes = table_entry("a.weight", &[256], id, 0);
        let what = format!("read_tensor of 256 weights of type {id}");
        let found = calmly(&what, || read_tensor(&mut Reader::new(&bytes, FILE), 0));
        match (found, TensorType::from_id(id)) {
            (Ok(found), Some(expected)) => {
                assert_eq!(found.tensor_type, expected, "{what}: wrong type");
            }
            (Err(error), None) => assert_says(&what, &error, &["a.weight", &id.to_string()]),
            (found, expected) => panic!("{what}: found {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn task_3_read_tensor_rejects_entry_truncated_at_any_byte() {
    let bytes = table_entry("a.weight", &[256, 3, 2], 12, 64);
    for n in 0..bytes.len() {
        let what =
            format!("read_tensor of only the first {n} of {} bytes of an entry", bytes.len());
        let found = calmly(&what, || read_tensor(&mut Reader::new(&bytes[..n], FILE), 5));
        let error = found
            .err()
            .unwrap_or_else(|| panic!("{what}: returned no error, but this must be an error"));
        // Without a name, the message identifies the entry by its index.
        let tensor = if n < 16 { "tensor 5" } else { "a.weight" };
        assert_says(&what, &error, &[tensor]);
    }
}
