//! Reads tensors from one file and from shards.

use super::*;

const A: [f32; 6] = [1.0, -2.0, 3.5, 0.0, -0.0, 1e-30];
const B: [f32; 2] = [7.0, 8.0];

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn save(path: &Path, tensors: &[(&str, Dtype, &[usize], &[u8])]) {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (*name, TensorView::new(*dtype, shape.to_vec(), data).unwrap())
    });
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn one_file() -> TempDir {
    let folder = TempDir::new().unwrap();
    let (a, b) = (bytes(&A), bytes(&B));
    save(
        &folder.path().join("model.safetensors"),
        &[
            ("layers.0.a.weight", Dtype::F32, &[2, 3], &a),
            ("layers.0.b.weight", Dtype::F32, &[2], &b),
        ],
    );
    folder
}

fn shards(weight_map: Value) -> TempDir {
    let folder = TempDir::new().unwrap();
    let (a, b) = (bytes(&A), bytes(&B));
    save(
        &folder.path().join("model-00001-of-00002.safetensors"),
        &[("layers.0.a.weight", Dtype::F32, &[2, 3], &a)],
    );
    save(
        &folder.path().join("model-00002-of-00002.safetensors"),
        &[("layers.0.b.weight", Dtype::F32, &[2], &b)],
    );
    let index = json!({"metadata": {"total_size": 32}, "weight_map": weight_map});
    fs::write(folder.path().join("model.safetensors.index.json"), index.to_string()).unwrap();
    folder
}

fn both() -> Value {
    json!({"layers.0.a.weight": "model-00001-of-00002.safetensors", "layers.0.b.weight": "model-00002-of-00002.safetensors"})
}

#[test]
fn one_file_and_shards_return_the_same_tensors() {
    for folder in [one_file(), shards(both())] {
        let checkpoint = Checkpoint::open(folder.path()).unwrap();
        let a = checkpoint.tensor("layers.0.a.weight", &[2, 3]).unwrap();
        assert_eq!(
            (a.name, a.dtype, a.shape, a.bytes),
            ("layers.0.a.weight", Dtype::F32, &[2, 3][..], &bytes(&A)[..])
        );
        assert_eq!(checkpoint.tensor("layers.0.b.weight", &[2]).unwrap().bytes, bytes(&B));
    }
}

#[test]
fn errors_name_the_missing_or_misshapen_tensor() {
    for folder in [one_file(), shards(both())] {
        let checkpoint = Checkpoint::open(folder.path()).unwrap();
        let error = |name: &str, shape: &[usize]| {
            checkpoint.tensor(name, shape).err().expect("no such tensor").to_string()
        };
        assert_explains(
            &error("layers.0.c.weight", &[2]),
            &[
                "model.safetensors",
                "layers.0.c.weight: not found",
                "closest names are layers.0.a.weight, layers.0.b.weight",
            ],
        );
        assert_explains(
            &error("layers.0.a.weight", &[3, 2]),
            &[".safetensors", "layers.0.a.weight", "found shape [2, 3]", "expected [3, 2]"],
        );
    }
}

#[track_caller]
fn unopened(folder: &TempDir, parts: &[&str]) {
    assert_explains(&Checkpoint::open(folder.path()).unwrap_err().to_string(), parts);
}

#[test]
fn rejects_an_index_that_contradicts_its_files() {
    let naming = |file: Value| shards(with(both(), json!({"layers.0.b.weight": file})));
    unopened(
        &naming(json!("model-00001-of-00002.safetensors")),
        &["index.json", "layers.0.b.weight", "found file model-00001-of-00002.safetensors"],
    );
    unopened(
        &naming(json!("model-00003-of-00002.safetensors")),
        &["model-00003-of-00002.safetensors", "cannot be read"],
    );
    unopened(&naming(json!(3)), &["layers.0.b.weight", "found 3", "file name"]);
    for escape in [
        "../model-00002-of-00002.safetensors",
        "/etc/passwd",
        "a/b.safetensors",
        "..",
        "",
        "C:\\x.safetensors",
        "./model-00002-of-00002.safetensors",
        "weights.bin",
    ] {
        unopened(&naming(json!(escape)), &["layers.0.b.weight", "in the same folder"]);
    }
    unopened(&shards(json!(null)), &["index.json", "\"weight_map\""]);

    let folder = TempDir::new().unwrap();
    unopened(&folder, &["neither model.safetensors nor", "expected one"]);
    fs::create_dir(folder.path().join("model.safetensors")).unwrap();
    unopened(&folder, &["model.safetensors: cannot be read", "not a regular file"]);
}

/// Opens a file with this header and this many bytes of values. Returns the error, if any.
fn opened(header: &str, values: usize) -> String {
    let folder = TempDir::new().unwrap();
    let file =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; values]].concat();
    fs::write(folder.path().join("model.safetensors"), file).unwrap();
    Checkpoint::open(folder.path()).map_or_else(|e| e.to_string(), |_| "opened".to_owned())
}

#[test]
fn rejects_a_header_that_contradicts_its_file() {
    let entry = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"dtype": "{dtype}", "shape": {shape}, "data_offsets": {offsets}}}"#)
    };
    let one = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"a": {}}}"#, entry(dtype, shape, offsets))
    };
    let valid = one("F32", "[2]", "[0, 8]");
    assert_eq!(opened(&valid, 8), "opened");
    let refused = |header: &str, values: usize, parts: &[&str]| {
        assert_explains(&opened(header, values), &[&["model.safetensors"], parts].concat());
    };
    refused(&valid, 4, &["tensor a", "found offsets (0, 8)", "4 bytes", "truncated"]);
    refused(&valid, 12, &["found 12 bytes of values", "the header describes 8"]);
    refused(&one("F32", "[3]", "[0, 8]"), 8, &["tensor a", "(0, 8)", "shape [3]"]);
    refused(&one("F32", "[2]", "[8, 0]"), 8, &["tensor a", "(8, 0)"]);
    refused(&one("F33", "[2]", "[0, 8]"), 8, &["tensor a", "F33"]);
    refused(r#"{"a": {"shape": [2], "data_offsets": [0, 8]}}"#, 8, &["tensor a", "dtype"]);
    refused(&one("U8", "[4294967296, 4294967296]", "[0, 0]"), 0, &["tensor a"]);
    let most = u64::MAX;
    refused(&one("U8", &format!("[{most}]"), &format!("[0, {most}]")), 0, &["tensor a"]);
    let two = |offsets: &str| {
        format!(
            r#"{{"a": {}, "b": {}}}"#,
            entry("U8", "[4]", "[0, 4]"),
            entry("U8", "[4]", offsets)
        )
    };
    refused(&two("[2, 6]"), 6, &["tensor b", "found offset 2, expected 4"]);
    refused(&two("[6, 10]"), 10, &["tensor b", "found offset 6, expected 4"]);
    refused("[1]", 0, &["header", "JSON"]);
    refused("{\"a\"", 0, &["header", "JSON"]);
}

#[test]
fn rejects_a_file_in_another_format() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model.safetensors");
    for (contents, part) in [
        (&b""[..], "found 0 bytes"),
        (b"GGUF", "found 4 bytes"),
        (b"version https://git-lfs.github.com/spec/v1", "found a header length of"),
    ] {
        fs::write(&path, contents).unwrap();
        unopened(&folder, &["model.safetensors", part]);
    }
    let whole = fs::read(one_file().path().join("model.safetensors")).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        unopened(&folder, &["model.safetensors"]);
    }
}

#[test]
fn returns_tensors_of_any_type() {
    let folder = TempDir::new().unwrap();
    save(&folder.path().join("model.safetensors"), &[("a", Dtype::I8, &[2], &[1, 2])]);
    assert_eq!(
        Checkpoint::open(folder.path()).unwrap().tensor("a", &[2]).unwrap().dtype,
        Dtype::I8
    );
}
