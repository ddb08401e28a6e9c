//! Week 2, day 2, on fresh inputs.

use std::fmt;

use anyhow::Result;
use tiny_llm::week2::{
    gguf::{
        metadata::{read_array, read_metadata, read_value},
        reader::Reader,
        table::{alignment, check_places, data_start, place, read_tensor},
    },
    roofline::{Machine, Work, work},
};
use tiny_llm_formats::gguf::{MAGIC, Metadata, TensorInfo, TensorType, Value};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{check::Tolerance, fresh::Fresh};

/// Answers with the value and the reader's position, or with "an error": its wording is free.
fn outcome<T: fmt::Debug>(fresh: &Fresh, what: &str, reader: &Reader, read: Result<T>) {
    match read {
        Ok(value) => fresh.says(what, &(value, reader.position())),
        Err(_) => fresh.says(what, &"an error"),
    }
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day2 task 1");
    let bytes = fresh.bytes(40);
    let mut reader = Reader::new(&bytes, "f");
    for _ in 0..6 {
        let n = fresh.below(14);
        let taken = reader.take(n, "bytes").map(<[u8]>::to_vec);
        outcome(&fresh, "take", &reader, taken);
        let number = reader.number::<2>("a number");
        outcome(&fresh, "number", &reader, number);
    }
    for _ in 0..8 {
        let (count, each, rest) = (fresh.below(12) as u64, fresh.from_to(1, 4), fresh.below(40));
        let bytes = [&count.to_le_bytes()[..], &vec![1; rest]].concat();
        let mut reader = Reader::new(&bytes, "f");
        let found = reader.count(each, "things");
        outcome(&fresh, "count", &reader, found);
        let mut text = string(&(fresh.word(6) + "é日" + &fresh.word(2)));
        let cut = fresh.below(6).saturating_sub(2);
        text.truncate(text.len() - cut);
        let mut reader = Reader::new(&text, "f");
        let found = reader.string("a text").map(str::to_owned);
        outcome(&fresh, "string", &reader, found);
        let version = fresh.from_to(1, 4) as u32;
        let (tensors, entries) = (fresh.below(20) as u64, fresh.below(20) as u64);
        let counts = [tensors.to_le_bytes(), entries.to_le_bytes()].concat();
        let bytes = [&MAGIC[..], &version.to_le_bytes(), &counts, &[0; 400]].concat();
        let mut reader = Reader::new(&bytes, "f");
        let found = reader.header();
        outcome(&fresh, "header", &reader, found);
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day2 task 2");
    for type_id in 0..14 {
        let bytes = match type_id {
            7 => vec![fresh.below(3) as u8],
            8 => string(&fresh.word(9)),
            9 => [&[4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0][..], &fresh.bytes(8)].concat(),
            _ => fresh.bytes(8),
        };
        let mut reader = Reader::new(&bytes, "f");
        let found = read_value(&mut reader, type_id, "a value");
        outcome(&fresh, "value", &reader, found);
    }
    for (type_id, size) in [(0, 1), (3, 2), (5, 4), (10, 8), (9, 4), (12, 8)] {
        let (count, there) = (fresh.from_to(1, 6), fresh.from_to(4, 6));
        let bytes = [
            &u32::to_le_bytes(type_id)[..],
            &(count as u64).to_le_bytes(),
            &fresh.bytes(there * size),
        ];
        let bytes = bytes.concat();
        let mut reader = Reader::new(&bytes, "f");
        let found = read_array(&mut reader, "an array");
        outcome(&fresh, "array", &reader, found);
    }
    for entries in 1..4 {
        let mut bytes = Vec::new();
        for _ in 0..entries {
            bytes.extend(string(&fresh.word(6)));
            bytes.extend([4, 0, 0, 0]);
            bytes.extend(fresh.bytes(4));
        }
        let mut reader = Reader::new(&bytes, "f");
        let found = read_metadata(&mut reader, fresh.from_to(1, 3), "f");
        outcome(&fresh, "metadata", &reader, found);
    }
}

fn info(fresh: &Fresh, name: &str, shape: Vec<usize>) -> TensorInfo {
    let tensor_type = TensorType::ALL[fresh.below(3)];
    let size = shape.iter().product::<usize>() * tensor_type.block_bytes();
    TensorInfo { name: name.to_owned(), shape, tensor_type, offset: 32 * fresh.below(9), size }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day2 task 3");
    for _ in 0..10 {
        let axes = fresh.from_to(1, 3);
        let mut bytes = [&string(&fresh.word(5))[..], &(axes as u32).to_le_bytes()].concat();
        for axis in 0..axes {
            let size = if axis == 0 { 32 * fresh.from_to(1, 16) } else { fresh.below(7) };
            bytes.extend((size as u64).to_le_bytes());
        }
        let types = [0, 1, 2, 4, 8, 12, 14, 30];
        bytes.extend(u32::to_le_bytes(types[fresh.below(types.len())]));
        bytes.extend((fresh.below(1 << 20) as u64).to_le_bytes());
        let mut reader = Reader::new(&bytes, "f");
        let found = read_tensor(&mut reader, 0);
        outcome(&fresh, "tensor", &reader, found);

        let mut metadata = Metadata::new("f");
        let aligned = if fresh.below(2) == 0 { 1 << fresh.below(12) } else { fresh.below(100) };
        metadata.insert("general.alignment", Value::U32(aligned as u32));
        fresh.says("alignment", &alignment(&metadata).ok());
        fresh.says("data start", &data_start(fresh.below(5000), 1 << fresh.below(10)));
        let tensor = info(&fresh, "t", vec![8, 4]);
        fresh.says("place", &place(&tensor, 32 * fresh.below(50)));
        let tensors: Vec<_> = (0..2).map(|i| info(&fresh, &format!("t{i}"), vec![4, 4])).collect();
        let checked = check_places(&tensors, 32, fresh.from_to(150, 400), "f");
        fresh.says("places", &checked.is_ok());
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week2-day2 task 4");
    for tied in [false, true] {
        let mut tensors = Vec::new();
        for name in ["token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_up.weight"] {
            let shape = vec![fresh.from_to(10, 90), fresh.from_to(10, 90)];
            tensors.push(info(&fresh, name, shape));
        }
        tensors.push(info(&fresh, "blk.0.attn_norm.weight", vec![64]));
        if !tied {
            tensors.push(info(&fresh, "output.weight", vec![50, 40]));
        }
        fresh.says("work", &work(&tensors));
        let needed = Work { bytes: fresh.u64() >> 30, multiply_adds: fresh.u64() >> 30 };
        let machine = Machine {
            bandwidth: 1e10 * (0.5 + fresh.uniform()),
            operations: 1e11 * (0.5 + fresh.uniform()),
        };
        let mut found = vec![machine.balanced_rows(needed) as f32];
        for rows in [1, fresh.from_to(2, 40), fresh.from_to(50, 900)] {
            found.push(machine.seconds(needed, rows) as f32);
            found.push(machine.tokens_per_second(needed, rows) as f32);
        }
        let found = tensor(&[found.len()], found);
        fresh.answer("roofline", &found, Tolerance::Relative(1e-5));
    }
}
