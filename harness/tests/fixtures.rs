//! The harness reads its fixtures without the `safetensors` crate. This test compares both on every
//! file.

use std::{fs, path::Path};

use safetensors::{Dtype, SafeTensors};
use tiny_llm_harness::fixtures::Fixtures;

#[test]
fn every_fixture_matches_the_safetensors_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut compared = 0;
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let Some(name) = path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .strip_suffix(".safetensors")
            .map(str::to_owned)
        else {
            continue;
        };
        let bytes = fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let fixtures = Fixtures::open(&name);
        for (tensor, view) in file.iter() {
            let (case, part) = tensor.rsplit_once('/').unwrap();
            let case = fixtures.case(case);
            let (shape, raw): (Vec<usize>, Vec<u8>) = if view.dtype() == Dtype::I64 {
                let found = case.integers(part);
                (
                    found.shape().to_vec(),
                    found.iter().flat_map(|&n| (n as i64).to_le_bytes()).collect(),
                )
            } else {
                let found = case.tensor(part);
                (found.shape().to_vec(), found.iter().flat_map(|x| x.to_le_bytes()).collect())
            };
            assert!(shape == view.shape() && raw == view.data(), "{name}: {tensor} differs");
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} tensors were found");
}

#[test]
fn check_rows_names_the_wrong_rows() {
    let case = Fixtures::open("week1_day7").case("task_2_top_k/ties");
    let rows: Vec<String> = (0..7).map(|i| format!("setting {i}")).collect();
    let mut found = case.tensor("output");
    case.check_rows("output", &rows, &found);
    (found[[1, 0]], found[[4, 3]]) = (7.0, 7.0);
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        case.check_rows("output", &rows, &found);
    }));
    let message = *refused.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("\n  wrong at setting 1 (row 1), setting 4 (row 4)\n"), "{message}");
}
