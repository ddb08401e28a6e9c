//! Loads models from GGUF files. Checks that the logits match PyTorch's, and that a file without a
//! valid model is rejected in one line.

use std::{collections::BTreeMap, sync::Arc};

use ndarray::s;
use tiny_llm_formats::{
    checkpoint::Checkpoint,
    config::ModelConfig,
    gguf::{Array, DEFAULT_ALIGNMENT, Metadata, TensorInfo, TensorType, Value, gguf_name},
    tensor::tensor,
};
use tiny_llm_harness::{
    check,
    fixtures::{Case, Fixtures},
};
use tiny_llm_reference::week2::{
    cache::CacheType,
    generate::Session,
    gguf::{
        Gguf,
        writer::{head, lay_out},
    },
    kernels::Rung,
    layer::Mlp,
    load::{gguf_matrix, load_gguf, stored_matrix},
    matrix::Matrix,
    model::Model,
    parallel::Team,
    plan::{AttentionKind, Plan},
    recipe::row_order,
};

const FILE: &str = "some.gguf";

/// A GGUF file under construction. All tensors are f32.
#[derive(Clone)]
struct File {
    metadata: Metadata,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl File {
    /// Returns a complete model as llama.cpp's converter writes it: the rows of Llama's queries and
    /// keys are reordered, and Llama 3's RoPE scaling is a tensor.
    fn of(case: &Case) -> (Self, ModelConfig) {
        let config = ModelConfig::from_json(&case.value("config").to_string(), "config.json")
            .expect("a configuration");
        let family = case.value("config")["model_type"].as_str().expect("a name").to_owned();
        let mut file = Self { metadata: Metadata::new(FILE), tensors: BTreeMap::new() };
        file.set("general.architecture", Value::String(family.clone()));
        for (name, value) in [
            ("block_count", config.n_layers),
            ("embedding_length", config.hidden_size),
            ("feed_forward_length", config.intermediate_size),
            ("attention.head_count", config.n_heads),
            ("attention.head_count_kv", config.n_kv_heads),
            ("attention.key_length", config.head_dim),
            ("rope.dimension_count", config.head_dim),
            ("context_length", config.max_positions),
        ] {
            file.set(&format!("{family}.{name}"), Value::U32(value as u32));
        }
        file.set(
            &format!("{family}.attention.layer_norm_rms_epsilon"),
            Value::F32(config.rms_norm_eps),
        );
        file.set(&format!("{family}.rope.freq_base"), Value::F32(config.rope_theta));
        let tokens = (0..config.vocab_size).map(|i| format!("token {i}")).collect();
        file.set("tokenizer.ggml.tokens", Value::Array(Array::String(tokens)));

        let mut names = vec![
            "model.embed_tokens.weight".to_owned(),
            "model.norm.weight".to_owned(),
            "lm_head.weight".to_owned(),
        ];
        let parts = [
            "input_layernorm",
            "post_attention_layernorm",
            "mlp.gate_proj",
            "mlp.up_proj",
            "mlp.down_proj",
        ]
        .map(str::to_owned);
        let attention = ["q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm"]
            .map(|part| format!("self_attn.{part}"));
        for layer in 0..config.n_layers {
            for part in parts.iter().chain(&attention) {
                names.extend(
                    ["weight", "bias"].map(|kind| format!("model.layers.{layer}.{part}.{kind}")),
                );
            }
        }
        for name in names {
            let Some(weight) = case.get(&name) else { continue };
            let gguf = gguf_name(&name).expect("these models' tensors have names");
            let width = weight.len() / weight.shape()[0];
            let values: Vec<f32> = weight.iter().copied().collect();
            let values = match row_order(&config, &gguf) {
                Some(order) => {
                    order.iter().flat_map(|&row| values[row * width..][..width].to_vec()).collect()
                }
                None => values,
            };
            file.tensors.insert(gguf, (weight.shape().to_vec(), values));
        }
        if config.rope_scaling.is_some() {
            let frequencies = tiny_llm_reference::week1::rope::inverse_frequencies(
                config.head_dim,
                config.rope_theta,
            );
            let scaled = config.scale_frequencies(frequencies.clone());
            let factors = frequencies.iter().zip(&scaled).map(|(f, s)| f / s).collect();
            file.tensors
                .insert("rope_freqs.weight".to_owned(), (vec![config.head_dim / 2], factors));
        }
        (file, config)
    }

    fn set(&mut self, key: &str, value: Value) {
        self.metadata.insert(key, value);
    }

    fn without(&mut self, key: &str) {
        let mut metadata = Metadata::new(FILE);
        for (other, value) in self.metadata.iter().filter(|(other, _)| *other != key) {
            metadata.insert(other, value.clone());
        }
        self.metadata = metadata;
    }

    fn bytes(&self) -> Vec<u8> {
        let shapes: Vec<_> = self
            .tensors
            .iter()
            .map(|(name, (shape, _))| (name.clone(), shape.clone(), TensorType::F32))
            .collect();
        let table: Vec<TensorInfo> = lay_out(&shapes, DEFAULT_ALIGNMENT).expect("these shapes fit");
        let mut file = head(&self.metadata, &table, DEFAULT_ALIGNMENT);
        for (_, values) in self.tensors.values() {
            file.extend(values.iter().flat_map(|x| x.to_le_bytes()));
            file.resize(file.len().next_multiple_of(DEFAULT_ALIGNMENT), 0);
        }
        file
    }

    fn load(&self) -> anyhow::Result<Model> {
        load_gguf(&Gguf::parse(self.bytes().into(), FILE)?, 64)
    }

    /// Checks that loading fails with one line that contains all of `parts`.
    #[track_caller]
    fn refused(&self, parts: &[&str]) {
        let Err(error) = self.load() else {
            panic!(
                "it was loaded, but must be refused with a message that says {}",
                parts.join(", ")
            )
        };
        let message = format!("{error:#}");
        assert!(!message.contains('\n'), "{message}");
        for part in [FILE].iter().chain(parts) {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    }
}

fn case(family: &str) -> Case {
    Fixtures::open("week1_day5").case(&format!("task_3_decoder/{family}"))
}

#[test]
fn logits_match_pytorch() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = case(family);
        let (file, config) = File::of(&case);
        let model = Arc::new(file.load().unwrap_or_else(|e| panic!("{family}: {e:#}")));
        assert_eq!(model.config.tie_word_embeddings, config.tie_word_embeddings, "{family}");
        let plan = Arc::new(Plan {
            kernels: Rung::Naive.into(),
            attention: AttentionKind::default(),
            team: Team::new(1),
        });
        let tokens = case.integers("tokens");
        let expected = case.tensor("logits");
        for (b, row) in tokens.outer_iter().enumerate() {
            let mut session =
                Session::new(Arc::clone(&model), Arc::clone(&plan), 64, CacheType::F32);
            for (l, &token) in row.iter().enumerate() {
                let logits = session.feed(&[token as u32], 1).expect("a known token").to_vec();
                let expected = expected.slice(s![b, l, ..]).to_owned().into_dyn();
                // The order of summation differs, so this is a few times the fixture's tolerance.
                let found = tensor(&[logits.len()], logits);
                let what = format!("{family}, sequence {b}, position {l}");
                check::assert_close(&what, &found, &expected, 1e-4);
            }
        }
    }
}

#[test]
fn invalid_metadata_is_rejected_in_one_line() {
    let (good, config) = File::of(&case("llama"));
    good.load().expect("the file is in order");
    let changed = |change: &dyn Fn(&mut File)| {
        let mut file = good.clone();
        change(&mut file);
        file
    };
    for key in [
        "general.architecture",
        "llama.block_count",
        "llama.embedding_length",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.context_length",
        "llama.attention.layer_norm_rms_epsilon",
    ] {
        changed(&|file| file.without(key)).refused(&[key, "nothing"]);
        changed(&|file| file.set(key, Value::Bool(true))).refused(&[key, "Bool(true)"]);
    }
    let number = |key: &str, value: u32, parts: &[&str]| {
        changed(&|file| file.set(key, Value::U32(value))).refused(&[&[key], parts].concat());
    };
    number("llama.block_count", 0, &["0", "from 1"]);
    number("llama.block_count", 1 << 13, &["8192"]);
    number("llama.embedding_length", u32::MAX, &["4294967295"]);
    number("llama.attention.head_count_kv", 4, &["4", "divisor"]);
    number("llama.attention.key_length", 7, &["7", "even"]);
    number("llama.attention.key_length", 1 << 13, &["8192"]);
    number("llama.attention.value_length", 2, &["2"]);
    // Valid in the format, but more than attention supports.
    let large = |file: &mut File| {
        for key in [
            "llama.attention.key_length",
            "llama.attention.value_length",
            "llama.rope.dimension_count",
        ] {
            file.set(key, Value::U32(512));
        }
    };
    changed(&large).refused(&["512", "at most 256"]);
    number("llama.rope.dimension_count", 2, &["2"]);
    number("llama.context_length", 0, &["0"]);
    number("llama.expert_count", 8, &["8", "experts"]);
    number("tokenizer.ggml.eos_token_id", config.vocab_size as u32, &["token id"]);
    let float = |key: &str, value: f32, parts: &[&str]| {
        changed(&|file| file.set(key, Value::F32(value))).refused(&[&[key], parts].concat());
    };
    float("llama.attention.layer_norm_rms_epsilon", 0.0, &["0.0"]);
    float("llama.attention.layer_norm_rms_epsilon", f32::NAN, &["NaN"]);
    float("llama.rope.freq_base", f32::INFINITY, &["inf"]);
    float("llama.rope.scaling.factor", 4.0, &["4.0"]);
    let text = |key: &str, value: &str, parts: &[&str]| {
        changed(&|file| file.set(key, Value::String(value.to_owned())))
            .refused(&[&[key], parts].concat());
    };
    text("general.architecture", "mamba", &["mamba", "qwen3"]);
    text("llama.rope.scaling.type", "yarn", &["yarn"]);
    let few = Value::Array(Array::String(vec!["a".to_owned()]));
    changed(&|file| file.set("tokenizer.ggml.tokens", few.clone())).refused(&[
        "tokenizer.ggml.tokens",
        "an array of length 1",
        "token_embd.weight",
    ]);
}

#[test]
fn missing_unknown_and_misshapen_tensors_are_rejected() {
    let (good, config) = File::of(&case("llama"));
    let changed = |change: &dyn Fn(&mut File)| {
        let mut file = good.clone();
        change(&mut file);
        file
    };
    for name in
        ["token_embd.weight", "blk.1.attn_k.weight", "blk.0.ffn_norm.weight", "output_norm.weight"]
    {
        changed(&|file| drop(file.tensors.remove(name))).refused(&[name, "is missing"]);
    }
    let other = (vec![5], vec![1.0; 5]);
    changed(&|file| {
        drop(file.tensors.insert("blk.0.ffn_gate_inp.weight".to_owned(), other.clone()));
    })
    .refused(&["ffn_gate_inp"]);
    changed(&|file| drop(file.tensors.insert("rope_freqs.weight".to_owned(), other.clone())))
        .refused(&["rope_freqs.weight", "[5]"]);
    let zeros = (vec![config.head_dim / 2], vec![0.0; config.head_dim / 2]);
    changed(&|file| drop(file.tensors.insert("rope_freqs.weight".to_owned(), zeros.clone())))
        .refused(&["rope_freqs.weight", "0"]);
    let turned = |file: &mut File| {
        file.tensors.get_mut("blk.0.ffn_up.weight").expect("it is there").0.reverse();
    };
    changed(&turned).refused(&["blk.0.ffn_up.weight", "expected"]);
}

/// The model's matrices must point into the bytes of the file.
#[test]
fn nothing_is_copied() {
    let (file, _) = File::of(&case("llama"));
    let gguf = Gguf::parse(file.bytes().into(), FILE).expect("in order");
    let model = load_gguf(&gguf, 64).expect("a model");
    let Mlp::Dense(mlp) = &model.layers[1].mlp;
    let up: &Matrix = &mlp.up_proj;
    let place = gguf.bytes_of(gguf.required("blk.1.ffn_up.weight").expect("it is there"));
    assert_eq!(up.bytes().as_ptr(), place.as_ptr());
}

/// Uses three matrices of two rows and four columns, stacked as experts are stored.
#[test]
fn tensors_of_three_axes_are_stacks_of_matrices() {
    let numbers: Vec<f32> = (0..24u8).map(f32::from).collect();
    let check = |whole: Matrix| {
        assert_eq!((whole.rows, whole.cols), (6, 4));
        let stack = whole.split(3).expect("three of two rows");
        assert_eq!(stack.len(), 3);
        for (i, matrix) in stack.iter().enumerate() {
            assert_eq!((matrix.rows, matrix.cols), (2, 4));
            let expected: Vec<u8> =
                numbers[i * 8..][..8].iter().flat_map(|x| x.to_le_bytes()).collect();
            assert_eq!(matrix.bytes(), expected, "matrix {i}");
        }
        for n in [0, 4, 5, 12] {
            assert!(whole.split(n).is_err(), "six rows as {n} matrices");
        }
    };

    let mut file = File { metadata: Metadata::new(FILE), tensors: BTreeMap::new() };
    file.set("general.architecture", Value::String("llama".to_owned()));
    let name = "blk.0.ffn_up_exps.weight";
    file.tensors.insert(name.to_owned(), (vec![3, 2, 4], numbers.clone()));
    let gguf = Gguf::parse(file.bytes().into(), FILE).expect("a file");
    check(gguf_matrix(&gguf, name, &[3, 2, 4]).expect("three axes"));
    let error = gguf_matrix(&gguf, name, &[2, 3, 4]).expect_err("another shape").to_string();
    assert!(error.contains("[3, 2, 4]") && error.contains("[2, 3, 4]"), "{error}");

    let folder = tempfile::tempdir().expect("a folder");
    let header = r#"{"experts.weight":{"dtype":"F32","shape":[3,2,4],"data_offsets":[0,96]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(folder.path().join("model.safetensors"), bytes).expect("room");
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
    check(stored_matrix(&checkpoint, "experts.weight", &[3, 2, 4]).expect("three axes"));
}
