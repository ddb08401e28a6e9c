//! Week 2, day 4, task 6: writing a file.

use tiny_llm::week2::gguf::writer::{head, lay_out, put_string, put_value};
use tiny_llm_formats::{
    gguf::{Array, Metadata, TensorType, Value},
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_refuses},
    fixtures::Case,
};

use super::fixtures;

#[test]
fn task_6_put_string() {
    check_string();
}

#[track_caller]
fn check_string() {
    let mut out = vec![7];
    put_string(&mut out, "");
    put_string(&mut out, "né");
    assert_answer(
        "put_string of \"\" and \"né\", after a byte 7",
        &out,
        &vec![7, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, b'n', 0xc3, 0xa9],
    );
}

#[test]
fn task_6_put_value() {
    check_values();
}

#[track_caller]
fn check_values() {
    check_string();
    let written = |value: Value| {
        let mut out = vec![];
        put_value(&mut out, &value);
        out
    };
    let found = [
        written(Value::U8(200)),
        written(Value::I16(-2)),
        written(Value::Bool(true)),
        written(Value::F32(1.0)),
        written(Value::String("a".to_owned())),
        written(Value::Array(Array::U16(vec![1, 258]))),
        written(Value::U64(1)),
        written(Value::F64(-2.0)),
    ];
    let expected = [
        vec![0, 0, 0, 0, 200],
        vec![3, 0, 0, 0, 254, 255],
        vec![7, 0, 0, 0, 1],
        vec![6, 0, 0, 0, 0, 0, 128, 63],
        vec![8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, b'a'],
        vec![9, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1],
        vec![10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        vec![12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192],
    ];
    assert_answer("put_value of several types", &found, &expected);
}

fn tensors_of(case: &Case) -> Vec<(String, Vec<usize>, TensorType)> {
    let tensors: Vec<(String, Vec<usize>, String)> = case.read("tensors");
    let typed = |(name, shape, of): (_, _, String)| (name, shape, of.parse().expect("a type"));
    tensors.into_iter().map(typed).collect()
}

/// Two versions of the same file, aligned to 32 and to 8 bytes.
const FILES: [&str; 2] = ["task_6_write/file", "task_6_write/file_of_8"];

#[test]
fn task_6_lay_out() {
    check_lay_out();
}

#[track_caller]
fn check_lay_out() {
    for case in FILES {
        let case = fixtures().case(case);
        let table = lay_out(&tensors_of(&case), case.count("alignment"))
            .expect("lay_out must accept these tensors");
        case.check(
            "sizes",
            &tensor(&[table.len()], table.iter().map(|tensor| tensor.size as f32).collect()),
        );
        case.check(
            "offsets",
            &tensor(&[table.len()], table.iter().map(|tensor| tensor.offset as f32).collect()),
        );
        let names: Vec<_> = table
            .iter()
            .map(|tensor| (tensor.name.clone(), tensor.shape.clone(), tensor.tensor_type))
            .collect();
        assert_eq!(
            names,
            tensors_of(&case),
            "lay_out must keep names, shapes, types and their order"
        );
    }
}

#[test]
fn task_6_lay_out_error_names_the_tensor() {
    check_lay_out();
    let tensor =
        |name: &str, shape: &[usize], tensor_type| (name.to_owned(), shape.to_vec(), tensor_type);
    for (why, tensors, name) in [
        // The number of weights is a multiple of the block size, but the rows are not.
        ("rows of 16", vec![tensor("half", &[2, 16], TensorType::Q8_0)], "half"),
        ("rows of 40", vec![tensor("odd", &[4, 40], TensorType::Q4_0)], "odd"),
        ("rows of 128", vec![tensor("short", &[2, 128], TensorType::Q4_K)], "short"),
        ("rows of 1", vec![tensor("narrow", &[32, 1], TensorType::Q4_0)], "narrow"),
        ("rows of 64", vec![tensor("cube", &[2, 4, 64], TensorType::Q6_K)], "cube"),
        ("a row of 33", vec![tensor("row", &[33], TensorType::Q5_0)], "row"),
        ("no axes", vec![tensor("point", &[], TensorType::F32)], "point"),
        (
            "a size that overflows",
            vec![tensor("vast", &[usize::MAX / 2, 4], TensorType::F32)],
            "vast",
        ),
        (
            "an offset that overflows",
            vec![
                tensor("first", &[usize::MAX / 4], TensorType::F32),
                tensor("second", &[1], TensorType::F32),
            ],
            "second",
        ),
        (
            "an end that overflows",
            vec![
                tensor("first", &[usize::MAX / 8], TensorType::F32),
                tensor("second", &[usize::MAX / 8], TensorType::F32),
                tensor("third", &[64], TensorType::F32),
            ],
            "third",
        ),
    ] {
        let call = format!("lay_out with {why} in tensor {name}");
        match assert_refuses(&call, || lay_out(&tensors, 32)) {
            Ok(table) => panic!("{call}: found {table:?}, expected an error"),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.contains(name),
                    "{call}: the error must name the tensor, but it is {text:?}"
                );
            }
        }
    }
}

#[test]
fn task_6_head_matches_gguf_package() {
    check_values();
    check_lay_out();
    for (alignment, expected) in [(32, 32), (16, 32), (64, 64)] {
        let found = head(&Metadata::new("the test"), &[], alignment).len();
        assert!(
            found == 24 || found == expected,
            "head of an empty file with alignment {alignment}: found {found} bytes, expected \
             {expected}, its 24 bytes rounded up to the alignment"
        );
    }
    let mut metadata = Metadata::new("the test");
    for (key, value) in [
        ("general.architecture", Value::String("llama".to_owned())),
        ("k.a_u8", Value::U8(200)),
        ("k.b_i8", Value::I8(-3)),
        ("k.c_u16", Value::U16(65000)),
        ("k.d_i16", Value::I16(-300)),
        ("k.e_u32", Value::U32(4_000_000_000)),
        ("k.f_i32", Value::I32(-70000)),
        ("k.g_f32", Value::F32(0.1)),
        ("k.h_true", Value::Bool(true)),
        ("k.i_false", Value::Bool(false)),
        ("k.j_text", Value::String("Grüße 世界".to_owned())),
        ("k.k_empty", Value::String(String::new())),
        ("k.l_u64", Value::U64((1 << 63) + 5)),
        ("k.m_i64", Value::I64(-(1 << 40))),
        ("k.n_f64", Value::F64(1e-300)),
        ("k.o_texts", Value::Array(Array::String(["a", "", "ßé"].map(str::to_owned).to_vec()))),
        ("k.p_floats", Value::Array(Array::F32(vec![0.5, -1.25, 3e38]))),
        ("k.q_ints", Value::Array(Array::I32(vec![-1, 0, 7]))),
    ] {
        metadata.insert(key, value);
    }
    for case in FILES {
        let case = fixtures().case(case);
        let alignment = case.count("alignment");
        let table =
            lay_out(&tensors_of(&case), alignment).expect("lay_out must accept these tensors");
        case.check_bytes("head", &head(&metadata, &table, alignment));
    }
    let wide = head(
        &metadata,
        &lay_out(&[], 32).expect("lay_out must accept a table without tensors"),
        4096,
    );
    assert!(
        wide.len() == 4096 && wide.ends_with(&[0; 3000]),
        "head with alignment 4096: it has {} bytes, expected zeros up to byte 4096",
        wide.len()
    );
}

#[test]
fn task_6_large_tensors_and_long_strings() {
    let tensors = [
        ("blk.0.experts".to_owned(), vec![3, 5, 64], TensorType::Q8_0),
        (String::new(), vec![2, 1, 3, 4], TensorType::F32),
        ("large".to_owned(), vec![1 << 33], TensorType::F32),
        ("behind".to_owned(), vec![1], TensorType::F32),
    ];
    let table = lay_out(&tensors, 8).unwrap_or_else(|error| {
        panic!(
            "lay_out of tensors with one, three and four axes, one of them without a name: they \
             are valid, but were refused: {error}"
        )
    });
    let found: Vec<_> = table.iter().map(|tensor| (tensor.offset, tensor.size)).collect();
    let expected = [(0, 1020), (1024, 96), (1120, 4 << 33), (1120 + (4usize << 33), 4)];
    assert!(
        found == expected,
        "lay_out of [3, 5, 64] in Q8_0 and [2, 1, 3, 4], [2³³], [1] in F32, aligned to 8: found \
         offsets and sizes {found:?}, expected {expected:?}"
    );
    let metadata = Metadata::new("the test");
    let found = head(&metadata, &table, 8);
    let mut expected = b"GGUF\x03\0\0\0".to_vec();
    expected.extend([4u64, 0].map(u64::to_le_bytes).as_flattened());
    for ((name, shape, tensor_type), (offset, _)) in
        tensors.iter().zip([(0u64, 0), (1024, 0), (1120, 0), (1120 + (4 << 33), 0)])
    {
        expected.extend((name.len() as u64).to_le_bytes());
        expected.extend(name.as_bytes());
        expected.extend((shape.len() as u32).to_le_bytes());
        expected.extend(shape.iter().rev().flat_map(|n| (*n as u64).to_le_bytes()));
        let id: u32 = if *tensor_type == TensorType::F32 { 0 } else { 8 };
        expected.extend(id.to_le_bytes());
        expected.extend(offset.to_le_bytes());
    }
    expected.resize(expected.len().next_multiple_of(8), 0);
    let at = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "head of a file with these four tensors and no metadata: found {} bytes, expected {}; the \
         first difference is at byte {at:?} (lengths and offsets have eight bytes)",
        found.len(),
        expected.len()
    );
    let long = "ü".repeat(50_000);
    let mut out = Vec::new();
    put_string(&mut out, &long);
    assert!(
        out.len() == 100_008 && out[..8] == 100_000u64.to_le_bytes(),
        "put_string of 100,000 bytes: found {} bytes that begin with {:?}, expected 100,008: the \
         length in eight bytes, then the text",
        out.len(),
        &out[..8.min(out.len())]
    );
}

#[test]
fn task_6_lay_out_rejects_overflowing_offsets() {
    check_lay_out();
    let f16 = |n: usize| (format!("{n} weights"), vec![n], TensorType::F16);
    let half = usize::MAX / 2;
    for (sizes, alignment, last) in [
        // The first tensor ends two bytes before the largest usize, and no multiple of 32 follows.
        (vec![half, 1], 32, "1 weights"),
        (vec![half, 4], 2, "4 weights"),
        (vec![half / 2, half / 2, half / 2], 32, "weights"),
        (vec![4, half + 1], 32, "weights"),
    ] {
        let tensors: Vec<_> = sizes.iter().map(|&n| f16(n)).collect();
        let what =
            format!("lay_out of tensors of {sizes:?} weights in F16, aligned to {alignment}");
        let found = assert_refuses(&what, || lay_out(&tensors, alignment));
        let Err(error) = found else {
            panic!("{what}: returned no error, but the end of the last tensor overflows a usize")
        };
        let error = error.to_string();
        assert!(
            error.contains(last),
            "{what}: the message must name the tensor {last:?}, but it is {error:?}"
        );
    }
    // A single tensor may end there.
    let found =
        assert_accepts("lay_out of one tensor that ends just below the largest usize", || {
            lay_out(&[f16(half)], 32)
        });
    assert!(
        found.as_ref().is_ok_and(|table| table[0].size == 2 * half),
        "lay_out of one tensor that ends just below the largest usize: found {found:?}, expected \
         offset 0 and {} bytes",
        2 * half
    );
}

#[test]
fn task_6_lay_out_with_various_alignments() {
    check_lay_out();
    for (seed, alignment) in [1, 2, 8, 32, 64, 4096].into_iter().enumerate() {
        let tensors: Vec<_> = (0..20)
            .map(|i| {
                let tensor_type = TensorType::ALL[(7 * i + seed) % TensorType::ALL.len()];
                let shape = vec![i % 3 + 1, (i % 4 + 1) * tensor_type.block_len()];
                (format!("t{i}"), shape, tensor_type)
            })
            .collect();
        let table = lay_out(&tensors, alignment).unwrap_or_else(|e| {
            panic!("lay_out: these tensors are valid, but they were refused: {e}")
        });
        let mut end = 0;
        for (found, (name, shape, tensor_type)) in table.iter().zip(&tensors) {
            let rows = shape[0] * shape[1] / tensor_type.block_len();
            let size = rows * tensor_type.block_bytes();
            let gap = found.offset.checked_sub(end);
            assert!(
                found.offset % alignment == 0
                    && gap.is_some_and(|gap| gap < alignment)
                    && found.size == size,
                "lay_out of {name}, {shape:?} in {tensor_type}, aligned to {alignment}: found \
                 offset {} and {} bytes, expected the first multiple of {alignment} from {end} on, \
                 and {size} bytes",
                found.offset,
                found.size
            );
            end = found.offset + size;
        }
        assert_eq!(table.len(), tensors.len(), "lay_out of 20 tensors: wrong number of entries");
    }
    let nothing = lay_out(&[], 32)
        .unwrap_or_else(|e| panic!("a table without tensors is valid, but it was refused: {e}"));
    assert!(nothing.is_empty(), "lay_out of no tensors: found {nothing:?}, expected no entries");
}

#[test]
fn task_6_put_value_appends() {
    check_values();
    let values = [
        Value::Bool(false),
        Value::I8(-1),
        Value::String(String::new()),
        Value::Array(Array::Bool(vec![])),
        Value::Array(Array::String(vec!["a".to_owned(), String::new()])),
        Value::F64(-0.0),
        Value::I64(i64::MIN),
    ];
    let alone: Vec<Vec<u8>> = values
        .iter()
        .map(|value| {
            let mut out = vec![];
            put_value(&mut out, value);
            out
        })
        .collect();
    let mut all = vec![7, 7];
    values.iter().for_each(|value| put_value(&mut all, value));
    let expected = [&[7, 7], &alone.concat()[..]].concat();
    assert_answer("put_value of seven values in a row, after bytes 7 and 7", &all, &expected);
    let expected = vec![
        vec![7, 0, 0, 0, 0],
        vec![1, 0, 0, 0, 255],
        [&[8, 0, 0, 0][..], &[0; 8]].concat(),
        [&[9, 0, 0, 0, 7, 0, 0, 0][..], &[0; 8]].concat(),
        [&[9, 0, 0, 0, 8, 0, 0, 0, 2][..], &[0; 7], &[1, 0, 0, 0, 0, 0, 0, 0, b'a'], &[0; 8]]
            .concat(),
        vec![12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128],
        vec![11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128],
    ];
    assert_answer("put_value of each of these seven values", &alone, &expected);
    for (alignment, expected) in [(1, 24), (8, 24), (32, 32)] {
        let found = head(&Metadata::new("the test"), &[], alignment).len();
        assert_eq!(
            found, expected,
            "head of an empty file, aligned to {alignment}: wrong number of bytes"
        );
    }
}
