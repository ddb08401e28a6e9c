//! Week 2, day 2, task 4: the roofline.

use tiny_llm::week2::roofline::{Machine, Work, work};
use tiny_llm_formats::{
    gguf::{TensorInfo, TensorType},
    tensor::tensor,
};
use tiny_llm_harness::fixtures::read;

use super::{assert_lines, fixtures, list, text};

#[test]
fn task_4_work_counts_bytes_and_multiply_adds() {
    let case = fixtures().case("task_4_work/models");
    let lines = list(&case, "models").iter().map(|model| {
        let layers: u64 = read(&model["layers"]);
        let mut tensors = Vec::new();
        let rows: Vec<(String, Vec<usize>, String, usize)> = read(&model["tensors"]);
        for (name, shape, tensor_type, size) in rows {
            let tensor_type = tensor_type.parse().expect("a type");
            let tensor = TensorInfo { name, shape, tensor_type, offset: 0, size };
            // The fixture has only the first layer. All others have the same tensors.
            let copies = if tensor.name.starts_with("blk.0.") { layers } else { 1 };
            tensors.extend((0..copies).map(|i| TensorInfo {
                name: tensor.name.replace("blk.0.", &format!("blk.{i}.")),
                ..tensor.clone()
            }));
        }
        let name = text(&model["model"]);
        (format!("{name}: {:?}", work(&tensors)), format!("{name}: {}", text(&model["is"])))
    });
    assert_lines("work: bytes and multiply-adds for one decoded token", lines);
}

#[test]
fn task_4_seconds_is_max_of_memory_and_compute_time() {
    let seconds: fn(&Machine, Work, usize) -> f64 = Machine::seconds;
    check_machine("seconds", seconds);
}

#[test]
fn task_4_tokens_per_second() {
    check_machine("tokens_per_second", Machine::tokens_per_second);
}

#[test]
fn task_4_balanced_rows() {
    check_machine("balanced_rows", |machine, work, _| machine.balanced_rows(work));
}

fn check_machine(output: &str, found: impl Fn(&Machine, Work, usize) -> f64) {
    let case = fixtures().case("task_4_machine/both_sides");
    let mut names = Vec::new();
    let mut values = Vec::new();
    for [bytes, multiply_adds, bandwidth, operations, rows] in case.read::<Vec<[u64; 5]>>("passes")
    {
        let machine = Machine { bandwidth: bandwidth as f64, operations: operations as f64 };
        names.push(format!(
            "{bytes} bytes, {multiply_adds} multiply-adds, {rows} rows, {machine:?}"
        ));
        values.push(found(&machine, Work { bytes, multiply_adds }, rows as usize) as f32);
    }
    case.check_rows(output, &names, &tensor(&[values.len()], values));
}

#[test]
fn task_4_work_and_seconds_of_huge_tensors() {
    let large = |name: &str| TensorInfo {
        name: name.to_owned(),
        shape: vec![100_000, 50_000],
        tensor_type: TensorType::F32,
        offset: 0,
        size: 20_000_000_000,
    };
    let found = work(&[large("blk.0.ffn_up.weight"), large("blk.1.ffn_up.weight")]);
    let expected = Work { bytes: 40_000_000_000, multiply_adds: 10_000_000_000 };
    assert!(
        (found.bytes, found.multiply_adds) == (expected.bytes, expected.multiply_adds),
        "work of two matrices of 100,000 × 50,000 in f32: found {found:?}, expected {expected:?}"
    );
    // A number with more digits than an f32 holds.
    let machine = Machine { bandwidth: 1.0, operations: 1e30 };
    let found = machine.seconds(Work { bytes: 123_456_789_123, multiply_adds: 1 }, 1);
    assert!(
        found == 123_456_789_123.0,
        "seconds for 123,456,789,123 bytes at one byte per second: found {found}, expected \
         123456789123: use f64, because an f32 has too few digits"
    );
}

#[test]
fn task_4_work_counts_only_matrices() {
    let info = |name: &str, shape: &[usize]| TensorInfo {
        name: name.to_owned(),
        shape: shape.to_vec(),
        tensor_type: TensorType::F32,
        offset: 0,
        size: 4 * shape.iter().product::<usize>(),
    };
    let (table, output) = ("token_embd.weight", "output.weight");
    let cases: [(&str, Vec<TensorInfo>, u64, u64); 6] = [
        ("no tensors", vec![], 0, 0),
        ("vectors and a tensor of three axes", vec![info("a", &[8]), info("b", &[2, 3, 4])], 0, 0),
        (
            "an embedding that is also the head",
            vec![info(table, &[10, 8]), info("a", &[8])],
            320,
            80,
        ),
        ("an embedding, then a head", vec![info(table, &[10, 8]), info(output, &[10, 8])], 352, 80),
        ("a head, then an embedding", vec![info(output, &[10, 8]), info(table, &[10, 8])], 352, 80),
        (
            "a matrix of one row and a matrix of one column",
            vec![info("a", &[1, 8]), info("b", &[8, 1])],
            64,
            16,
        ),
    ];
    for (name, tensors, bytes, multiply_adds) in cases {
        let (found, expected) = (work(&tensors), Work { bytes, multiply_adds });
        assert!(
            found == expected,
            "work of {name}, in f32: found {found:?}, expected {expected:?}: count only tensors \
             with two axes, and only the bytes of one row of an embedding that is not the head"
        );
    }
}
