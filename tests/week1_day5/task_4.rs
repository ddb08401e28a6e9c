//! Week 1, day 5, task 4: weights.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ndarray::Axis;
use tiny_llm::week1::weights::{load_model, to_f32};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Dtype, StoredTensor},
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{self, Part, Tolerance, resting_on},
    fixtures::{Case, Fixtures},
    panics,
};

use super::{embedded_model, fixtures, model, of_a_decoder, stored, tokens};

/// Returns all parts that a model loaded from a file uses.
fn of_a_loaded_model() -> Vec<&'static Part> {
    const DECODER: &Part =
        &Part { task: "week1-day5 task 3", what: "the decoder", check: check_decoders };
    of_a_decoder().into_iter().chain([DECODER]).collect()
}

fn check_decoders() {
    for family in ["llama", "qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_decoder/{family}"));
        case.check("logits", &model(&case).forward(&tokens(&case)));
    }
}

fn check_to_f32(case: &str, dtype: Dtype, size: usize) {
    let case = fixtures().case(case);
    let (bits, expected) = (case.integers("bits"), case.tensor("values"));
    // One extra byte first: values of a mapped file may begin at any address.
    let mut bytes = vec![0xAA];
    bytes.extend(bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)));
    let found =
        to_f32(&stored(dtype, bits.shape(), &bytes[1..])).expect("to_f32 must support this type");
    let wrong = |(bits, (found, expected)): (&usize, (&f32, &f32))| {
        // Compares bits, because 0 and −0 are equal by value. Any NaN is right.
        let equal = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        (!equal).then(|| {
            format!("{dtype} with bits {bits:#06x}: found {found:e}, expected {expected:e}")
        })
    };
    let pairs = || bits.iter().zip(found.iter().zip(&expected));
    let first = pairs().find_map(wrong).unwrap_or_default();
    let kinds = kinds_that_are_wrong(dtype, pairs().map(|pair| (*pair.0, wrong(pair).is_some())));
    check::assert_close_noting(
        &format!("to_f32 of {dtype}"),
        &found,
        &expected,
        Tolerance::Relative(0.0),
        &format!("\n  first    {first}{kinds}"),
    );
    assert!(first.is_empty(), "{first}{kinds}");
}

/// Lists the kinds of numbers that are wrong, such as subnormals, unless all kinds are.
fn kinds_that_are_wrong(dtype: Dtype, wrong: impl Iterator<Item = (usize, bool)>) -> String {
    let (sign, exponent, fraction) = match dtype {
        Dtype::F16 => (15, 0x1f, 10),
        Dtype::BF16 => (15, 0xff, 7),
        _ => (31, 0xff, 23),
    };
    let kind = |bits: usize| {
        let (e, f) = (bits >> fraction & exponent, bits & ((1 << fraction) - 1));
        let kind = match (e, f) {
            (0, 0) => "0",
            (0, _) => "subnormal numbers, whose exponent bits are all 0",
            (e, 0) if e == exponent => "infinities",
            (e, _) if e == exponent => "NaN, whose exponent bits are all 1",
            _ => "normal numbers",
        };
        if bits >> sign == 0 { kind.to_owned() } else { format!("negative {kind}") }
    };
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for (bits, wrong) in wrong {
        let kinds = if wrong { &mut bad } else { &mut good };
        if !kinds.contains(&kind(bits)) {
            kinds.push(kind(bits));
        }
    }
    good.retain(|kind| !bad.contains(kind));
    if bad.is_empty() || good.is_empty() {
        return String::new();
    }
    format!("\n  wrong    {}\n  right    {}", bad.join("; "), good.join("; "))
}

#[test]
fn task_4_to_f32_of_bf16() {
    check_to_f32("task_4_to_f32/bf16", Dtype::BF16, 2);
}

#[test]
fn task_4_to_f32_of_f16() {
    check_to_f32("task_4_to_f32/f16", Dtype::F16, 2);
}

#[test]
fn task_4_to_f32_of_f32() {
    check_to_f32("task_4_to_f32/f32", Dtype::F32, 4);
}

/// Unsupported types, each with its number of bytes.
const OTHERS: [(Dtype, usize); 12] = [
    (Dtype::I8, 1),
    (Dtype::U8, 1),
    (Dtype::BOOL, 1),
    (Dtype::F8_E4M3, 1),
    (Dtype::F8_E5M2, 1),
    (Dtype::I16, 2),
    (Dtype::U16, 2),
    (Dtype::I32, 4),
    (Dtype::U32, 4),
    (Dtype::F64, 8),
    (Dtype::I64, 8),
    (Dtype::U64, 8),
];

#[test]
fn task_4_to_f32_error_names_the_unsupported_type() {
    for (dtype, size) in OTHERS {
        let result = to_f32(&stored(dtype, &[2], &[1; 16][..2 * size]));
        let Err(error) = result else {
            panic!(
                "to_f32 converted a tensor of type {dtype}, expected an error: only F32, BF16 and \
                 F16 are supported"
            )
        };
        let message = error.to_string();
        for part in ["some.weight", &dtype.to_string(), "BF16"] {
            // In upper or lower case: the message may name types as Rust, safetensors or PyTorch
            // do.
            let named = message.to_lowercase().contains(&part.to_lowercase());
            assert!(
                named,
                "the error must name the tensor, its type and the supported types, but {part} is \
                 missing: {message:?}"
            );
        }
    }
}

/// A weight and its name in the checkpoint.
type Weight = (String, Tensor);

/// A model folder that is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tiny-llm-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// Creates a model folder with the weights of a case, spread over `shards` files of `dtype`.
    fn with_model(
        test: &str,
        case: &Case,
        weights: &[Weight],
        dtype: Dtype,
        shards: usize,
    ) -> Self {
        let folder = Self::new(test);
        fs::write(folder.0.join("config.json"), case.value("config").to_string()).expect("written");
        if shards == 1 {
            save(&folder.0.join("model.safetensors"), weights, dtype);
            return folder;
        }
        let mut index = Vec::new();
        for (i, part) in weights.chunks(weights.len().div_ceil(shards)).enumerate() {
            let file = format!("model-{:05}-of-{shards:05}.safetensors", i + 1);
            save(&folder.0.join(&file), part, dtype);
            index.extend(part.iter().map(|(name, _)| format!("{name:?}: {file:?}")));
        }
        let index = format!(r#"{{"metadata": {{}}, "weight_map": {{{}}}}}"#, index.join(", "));
        fs::write(folder.0.join("model.safetensors.index.json"), index).expect("written");
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder in the temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a safetensors file of f32, or of bf16 (the upper halves of the f32 values).
fn save(path: &Path, weights: &[Weight], dtype: Dtype) {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, weight) in weights {
        let start = data.len();
        let skip = if dtype == Dtype::BF16 { 2 } else { 0 };
        data.extend(weight.iter().flat_map(|x| x.to_le_bytes().into_iter().skip(skip)));
        header.push(format!(
            r#"{name:?}: {{"dtype": "{dtype}", "shape": {:?}, "data_offsets": [{start}, {}]}}"#,
            weight.shape(),
            data.len()
        ));
    }
    let header = format!("{{{}}}", header.join(", "));
    fs::write(path, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat())
        .expect("written");
}

/// Returns every weight that the case's model requests, with its name.
fn weights(case: &Case) -> Vec<Weight> {
    let layers = case.value("config")["num_hidden_layers"].as_u64().expect("a number");
    let parts = [
        "input_layernorm",
        "post_attention_layernorm",
        "mlp.gate_proj",
        "mlp.up_proj",
        "mlp.down_proj",
    ];
    let attention = ["q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm"]
        .map(|part| format!("self_attn.{part}"));
    let parts: Vec<_> = parts.into_iter().map(str::to_owned).chain(attention).collect();
    let mut names: Vec<_> = ["model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"]
        .map(str::to_owned)
        .to_vec();
    for layer in 0..layers {
        names.extend(parts.iter().flat_map(|part| {
            ["weight", "bias"].map(|kind| format!("model.layers.{layer}.{part}.{kind}"))
        }));
    }
    names.into_iter().filter_map(|name| case.get(&name).map(|weight| (name, weight))).collect()
}

#[test]
fn task_4_load_model_from_one_file_and_from_shards() {
    for (family, shards) in [("llama", 1), ("qwen2", 2), ("qwen3", 3)] {
        let case = fixtures().case(&format!("task_3_decoder/{family}"));
        let folder = Folder::with_model(
            &format!("{family}-{shards}"),
            &case,
            &weights(&case),
            Dtype::F32,
            shards,
        );
        let model = load_model(&folder.0).expect("load_model must load this folder");
        let tied = model.config.tie_word_embeddings;
        let found = if model.lm_head.is_none() { "None" } else { "Some" };
        let property = "lm_head must be None if the output head is tied to the embedding, and \
                        otherwise lm_head.weight from the file";
        assert_eq!(
            model.lm_head.is_none(),
            tied,
            "{family}: lm_head is {found} although tie_word_embeddings is {tied}: {property}"
        );
        let parts = of_a_loaded_model();
        resting_on(&parts, || case.check("logits", &model.forward(&tokens(&case))));
    }
}

#[test]
fn task_4_load_model_with_bf16_weights() {
    let case = fixtures().case("task_3_decoder/llama");
    let folder = Folder::with_model("bf16", &case, &weights(&case), Dtype::BF16, 1);
    let model = load_model(&folder.0).expect("load_model must load this folder");
    let upper_half = |x: f32| f32::from_bits(x.to_bits() & 0xFFFF_0000);
    check::assert_close(
        "the loaded embedding",
        &model.embedding.weight,
        &case.tensor("model.embed_tokens.weight").mapv(upper_half),
        0.0,
    );
    let head = &model
        .lm_head
        .as_ref()
        .expect("lm_head is None, but this model's output head is not tied to the embedding")
        .weight;
    check::assert_close(
        "the loaded output head",
        head,
        &case.tensor("lm_head.weight").mapv(upper_half),
        0.0,
    );
    let down = &model.blocks[1].mlp.down_proj;
    check::assert_close(
        "the loaded down_proj of layer 1",
        down,
        &case.tensor("model.layers.1.mlp.down_proj.weight").mapv(upper_half),
        0.0,
    );
}

#[test]
fn task_4_load_model_error_names_the_problem() {
    let case = fixtures().case("task_3_decoder/llama");
    let good = weights(&case);
    let refused = |folder: &Path, parts: &[&str]| {
        let what = parts.join(", ");
        let error = panics::catch(|| load_model(folder).err()).unwrap_or_else(|panic| {
            if panic.is_todo() {
                panic.go_on();
            }
            panic!(
                "`load_model` panicked at {}: {}\n  return an error for a bad file; here it must \
                 mention {what}",
                panic.place,
                panic.message()
            )
        });
        let error = error.unwrap_or_else(|| {
            panic!(
                "`load_model` accepted a bad folder, but it must return an error that mentions \
                 {what}"
            )
        });
        let message = format!("{error:#}");
        assert!(!message.contains('\n'), "the error must be one line, but it is: {message}");
        for part in parts {
            assert!(
                message.contains(part),
                "the error must mention {part:?}, but it is {message:?}"
            );
        }
    };
    refused(Path::new("no/such/folder"), &["no/such/folder"]);

    let changed = |test: &str, change: &dyn Fn(&mut Vec<Weight>)| {
        let mut weights = good.clone();
        change(&mut weights);
        Folder::with_model(test, &case, &weights, Dtype::F32, 1)
    };
    let missing = changed("missing", &|w| {
        w.retain(|(name, _)| name != "model.layers.1.self_attn.k_proj.weight");
    });
    refused(&missing.0, &["model.layers.1.self_attn.k_proj.weight", "not found"]);
    let headless = changed("headless", &|w| w.retain(|(name, _)| name != "lm_head.weight"));
    refused(&headless.0, &["lm_head.weight", "not found"]);
    let misnamed = changed("misnamed", &|w| w[1].0 = "model.norm.wight".to_owned());
    refused(&misnamed.0, &["model.norm.weight", "closest", "model.norm.wight"]);
    let turned = changed("turned", &|w| w[0].1.swap_axes(0, 1));
    refused(&turned.0, &["model.embed_tokens.weight", "[24, 37]", "[37, 24]"]);

    let integers = Folder::with_model("integers", &case, &good, Dtype::I32, 1);
    refused(&integers.0, &["model.embed_tokens.weight", "I32", "BF16"]);
    let truncated = Folder::with_model("truncated", &case, &good, Dtype::F32, 1);
    let path = truncated.0.join("model.safetensors");
    let whole = fs::read(&path).expect("written above");
    fs::write(&path, &whole[..whole.len() - 5]).expect("written");
    refused(&truncated.0, &["model.safetensors", "truncated"]);
    let unknown = Folder::with_model("unknown", &case, &good, Dtype::F32, 1);
    let config = case.value("config").to_string().replace("\"llama\"", "\"mamba\"");
    fs::write(unknown.0.join("config.json"), config).expect("written");
    refused(&unknown.0, &["config.json", "model_type", "mamba"]);
}

#[test]
fn task_4_load_model_error_names_the_missing_weight() {
    // qwen2 has biases and qwen3 has head norms, which other models don't have.
    for family in ["qwen2", "qwen3"] {
        let case = fixtures().case(&format!("task_3_decoder/{family}"));
        let all = weights(&case);
        for missing in all.iter().map(|(name, _)| name).filter(|name| !name.contains(".0.")) {
            let rest: Vec<Weight> =
                all.iter().filter(|(name, _)| name != missing).cloned().collect();
            let folder = Folder::with_model("one-missing", &case, &rest, Dtype::F32, 1);
            let what = format!("{family}'s folder without {missing}");
            let loaded = check::assert_refuses(&what, || load_model(&folder.0));
            let Err(error) = loaded else {
                panic!(
                    "{what} was loaded, expected an error: every weight that the configuration \
                     requires must be in the file"
                )
            };
            let message = format!("{error:#}");
            assert!(
                message.contains(missing.as_str()),
                "{what}: the error must name the missing weight, but it is {message:?}"
            );
        }
    }
}

#[test]
fn task_4_embedded_model_logits_match_pytorch() {
    let model = load_model(&embedded_model()).expect("load_model must load the embedded model");
    let case = Fixtures::open("week1_day5_activations").case("task_3_activations/tiny_story");
    let positions: Vec<usize> = case.read("positions");
    resting_on(&of_a_loaded_model(), || {
        case.check("logits", &model.forward(&tokens(&case)).select(Axis(1), &positions));
    });
}

#[test]
fn task_4_to_f32_of_odd_length_tensors() {
    for (dtype, bytes) in [
        (Dtype::F32, [1.5f32, -2.0, 3.0].map(f32::to_le_bytes).concat()),
        (Dtype::BF16, vec![0xc0, 0x3f, 0x00, 0xc0, 0x40, 0x40]),
        (Dtype::F16, vec![0x00, 0x3e, 0x00, 0xc0, 0x00, 0x42]),
    ] {
        let stored = StoredTensor { name: "odd", dtype, shape: &[3], bytes: &bytes };
        let found = to_f32(&stored).expect("to_f32 must accept this tensor");
        check::compare(
            &format!("to_f32 of 1.5, −2 and 3 as {dtype:?}"),
            &found,
            &tensor(&[3], vec![1.5, -2.0, 3.0]),
            0.0,
        )
        .unwrap_or_else(|text| panic!("{text}"));
    }
}
