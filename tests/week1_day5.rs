//! Week 1, day 5: embedding and tied output, transformer block, the whole decoder, weights.
//!
//! Expected values: `python-ref/oracle/week1_day5.py`.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ndarray::{Array2, Axis};
use tiny_llm::week1::{
    activations::{activations, tasks_of},
    gqa::{GroupedQueryAttention, HeadNorm, Linear},
    mlp::SwiGlu,
    model::{Embedding, MAX_CONTEXT, Model, TransformerBlock},
    norm::RmsNorm,
    rope::RopeTables,
    weights::{load_model, to_f32},
};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Checkpoint, Dtype, StoredTensor},
    config::ModelConfig,
    tensor::tensor,
};
use tiny_llm_harness::{
    check::{self, Part, Tolerance, assert_any_layout, assert_panics, resting_on},
    fixtures::{Case, Fixtures, random},
    panics,
};

mod parts;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day5")
}

fn tokens(case: &Case) -> Array2<u32> {
    case.integers("tokens").mapv(|t| t as u32).into_dimensionality().expect("tokens are [B, L]")
}

// Task 1

#[test]
fn task_1_embedding() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_embedding/two_rows");
    let embedding = Embedding { weight: case.tensor("weight") };
    case.check("output", &embedding.forward(&tokens(&case)));
}

#[test]
fn task_1_as_output() {
    let fixtures = fixtures();
    let case = fixtures.case("task_1_as_output/signed");
    let embedding = Embedding { weight: case.tensor("weight") };
    case.check("output", &embedding.as_output(&case.tensor("x")));
}

#[test]
fn task_1_in_any_layout() {
    // Neighbours in memory are those below each other, as where a batch was put together by
    // columns.
    let tokens = ndarray::array![[3u32, 1, 4], [0, 2, 3]];
    let columns = tokens.t().as_standard_layout().into_owned().reversed_axes();
    let embedding = Embedding { weight: random(61, &[5, 4]) };
    let what = "embedding of tokens [2, 3] that lie column by column in memory";
    let found = check::assert_accepts(what, || embedding.forward(&columns));
    let property = "row b of the batch is tokens.row(b), wherever it lies in memory";
    check::assert_agrees(what, &found, &embedding.forward(&tokens), 0.0, property);
    assert_any_layout("embedding with a table", &embedding.weight, 0.0, |weight| {
        Embedding { weight: weight.clone() }.forward(&tokens)
    });
    assert_any_layout("as_output", &random(62, &[2, 3, 4]), 1e-5, |x| embedding.as_output(x));
}

#[test]
fn task_1_a_token_outside_the_vocabulary_is_not_embedded() {
    let embedding = Embedding { weight: Tensor::zeros(vec![4, 2]) };
    let inside = embedding.forward(&ndarray::array![[3]]);
    assert_eq!(inside.shape(), [1, 1, 2]);
    assert_panics("token 4 of a vocabulary of 4", || embedding.forward(&ndarray::array![[4]]));
}

#[test]
fn task_1_a_vocabulary_of_any_size() {
    let (vocabulary, length) = (70_000, 130);
    let numbers = Tensor::from_shape_fn(vec![vocabulary, 1], |at| at[0] as f32);
    let embedding = Embedding { weight: numbers };
    let tokens = Array2::from_shape_fn((2, length), |(b, l)| (69_999 - 537 * l - b) as u32);
    let expected = tokens.mapv(|token| token as f32).insert_axis(Axis(2)).into_dyn();
    check::compare(
        "embedding of 2 × 130 tokens, whose rows hold their numbers",
        &embedding.forward(&tokens),
        &expected,
        0.0,
    )
    .unwrap_or_else(|text| {
        panic!("{text}\n  token t is row t, of a vocabulary of 70,000 as well: ids have 32 bits")
    });
    let logits = embedding.as_output(&tensor(&[1, 2, 1], vec![2.0, -3.0]));
    let expected =
        Tensor::from_shape_fn(vec![1, 2, vocabulary], |at| [2.0, -3.0][at[1]] * at[2] as f32);
    check::compare("as_output of 2 and −3 over the same 70,000 rows", &logits, &expected, 0.0)
        .unwrap_or_else(|text| {
            panic!("{text}\n  every token has a logit, of any size, for every row of x")
        });
}

// Task 2

/// The block of a case, with the projections changed by `change`.
fn block(case: &Case, change: impl Fn(&str, Tensor) -> Tensor) -> TransformerBlock {
    let get = |name: &str| change(name, case.tensor(name));
    let eps = case.scalar("eps") as f32;
    let norm = |name: &str| RmsNorm { weight: get(name), eps };
    let head_norm = |name: &str| {
        let weight = case.get(name)?;
        Some(Box::new(move |x: &Tensor| RmsNorm { weight: weight.clone(), eps }.forward(x))
            as HeadNorm)
    };
    let project = |name: &str| Linear {
        weight: get(&format!("self_attn.{name}.weight")),
        bias: case.get(&format!("self_attn.{name}.bias")).map(|bias| change(name, bias)),
    };
    TransformerBlock {
        input_norm: norm("input_layernorm.weight"),
        attention: GroupedQueryAttention {
            n_heads: case.count("n_heads"),
            n_kv_heads: case.count("n_kv_heads"),
            q_proj: project("q_proj"),
            k_proj: project("k_proj"),
            v_proj: project("v_proj"),
            o_proj: project("o_proj"),
            q_norm: head_norm("self_attn.q_norm.weight"),
            k_norm: head_norm("self_attn.k_norm.weight"),
            rope: Arc::new(RopeTables { cos: case.tensor("cos"), sin: case.tensor("sin") }),
        },
        post_attention_norm: norm("post_attention_layernorm.weight"),
        mlp: SwiGlu {
            gate_proj: get("mlp.gate_proj.weight"),
            up_proj: get("mlp.up_proj.weight"),
            down_proj: get("mlp.down_proj.weight"),
        },
    }
}

#[test]
fn task_2_block_whatever_the_size() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_block/llama");
    let whole = block(&case, |_, weight| weight);
    let (x, mask) = (case.tensor("x"), case.tensor("mask"));
    resting_on(&parts::OF_A_BLOCK, || {
        let both = whole.forward(&x, Some(&mask));
        for b in 0..x.len_of(Axis(0)) {
            let alone = |x: &Tensor| x.select(Axis(0), &[b]);
            check::assert_agrees(
                &format!("sequence {b} alone, compared with the same in its batch"),
                &whole.forward(&alone(&x), Some(&mask)),
                &alone(&both),
                1e-4,
                "the mask counts for one sequence as for several",
            );
        }
        let off = |part: &'static str| {
            block(
                &case,
                move |name, weight| if name.contains(part) { weight * 0.0 } else { weight },
            )
        };
        let token = x.select(Axis(0), &[0]).select(Axis(1), &[0]);
        check::assert_agrees(
            "one token that may not see itself, compared with a block whose o_proj is zeros",
            &whole.forward(&token, Some(&tensor(&[1, 1], vec![f32::NEG_INFINITY]))),
            &off("o_proj").forward(&token, None),
            1e-6,
            "a query that sees nothing gets zeros from attention: the mask counts for one token too",
        );
        let large = &x * 1e5;
        let nothing = block(&case, |name, weight| {
            if name.contains("o_proj") || name.contains("down_proj") {
                weight * 0.0
            } else {
                weight
            }
        });
        check::assert_agrees(
            "100,000 · x through a block whose o_proj and down_proj are zeros, compared with what went in",
            &nothing.forward(&large, Some(&mask)),
            &large,
            0.0,
            "both parts add nothing, and the residual stream has no bound",
        );
    });
}

#[test]
fn task_2_block_with_mask_llama() {
    check_block("llama");
}

#[test]
fn task_2_block_with_bias_qwen2() {
    check_block("qwen2");
}

#[test]
fn task_2_block_with_head_norms_qwen3() {
    check_block("qwen3");
}

fn check_block(family: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_2_block/{family}"));
    let x = case.tensor("x");
    let before = x.clone();
    resting_on(&parts::OF_A_BLOCK, || {
        let block = block(&case, |_, weight| weight);
        case.check("output", &block.forward(&x, case.get("mask").as_ref()));
    });
    assert_eq!(x, before, "forward must leave its input as it is");
}

#[test]
fn task_2_a_block_that_adds_nothing_is_the_identity() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_block/llama");
    let silent = block(&case, |name, weight| {
        if name.contains("o_proj") || name.contains("down_proj") { weight * 0.0 } else { weight }
    });
    let x = case.tensor("x");
    let found = silent.forward(&x, case.get("mask").as_ref());
    // Too little happens here to tell one mistake from another, so none is named.
    if let Err(difference) =
        check::compare("a block whose attention and MLP give zeros", &found, &x, 0.0)
    {
        panic!(
            "{difference}\n  only the two residual connections are left: each adds x as it came \
             in, so the block must return its input"
        );
    }
}

// Task 3

/// A whole model from the weights of a case; `config.json` is part of the case.
fn model(case: &Case) -> Model {
    without_layers(true);
    let config =
        ModelConfig::from_json(&case.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    Model::build(config, &mut |name, shape| {
        let weight = case.tensor(name);
        assert_eq!(weight.shape(), shape, "{name}");
        Ok(weight)
    })
    .expect("all weights are there")
}

/// The answer of a decoder without layers: the shortest way to `Model::forward`. The tests of whole
/// models begin with it, so that while task 3 is open they say so, whatever is open elsewhere.
fn without_layers(with_head: bool) -> Tensor {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/no_layers");
    let whole = fixtures.case("task_3_decoder/llama");
    let config =
        ModelConfig::from_json(&whole.value("config").to_string(), "config.json of the fixture")
            .expect("a configuration");
    let model = Model {
        config,
        embedding: Embedding { weight: case.tensor("embedding") },
        blocks: Vec::new(),
        norm: RmsNorm { weight: case.tensor("norm"), eps: case.scalar("eps") as f32 },
        lm_head: with_head.then(|| Linear { weight: case.tensor("head"), bias: None }),
    };
    model.forward(&tokens(&case))
}

#[test]
fn task_3_a_later_token_changes_no_earlier_logit() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/qwen2");
    let model = model(&case);
    let before = tokens(&case);
    let mut after = before.clone();
    let last = before.ncols() - 1;
    after.column_mut(last).mapv_inplace(|token| (token + 1) % model.config.vocab_size as u32);
    let (x, y) = (model.forward(&before), model.forward(&after));
    let (x, y) = (x.slice_axis(Axis(1), (..last).into()), y.slice_axis(Axis(1), (..last).into()));
    let property = "only the last token was changed, so the logits before it stay as they are: no \
                    token sees a later one";
    check::assert_agrees(
        "logits before the changed last token",
        &y.to_owned(),
        &x.to_owned(),
        0.0,
        property,
    );
}

#[test]
fn task_3_a_head_may_have_a_bias() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/llama");
    let (mut model, tokens) = (model(&case), tokens(&case));
    let vocabulary = model.config.vocab_size;
    let weight = model.embedding.weight.clone();
    model.lm_head = Some(Linear { weight: weight.clone(), bias: None });
    let without = model.forward(&tokens);
    let bias = Tensor::from_shape_fn(vec![vocabulary], |at| at[0] as f32 * 8.0);
    model.lm_head = Some(Linear { weight, bias: Some(bias.clone()) });
    check::assert_agrees(
        "logits of a model whose lm_head has a bias, compared with those without it plus the bias",
        &model.forward(&tokens),
        &(without + bias),
        1e-3,
        "lm_head is a `Linear`, whose forward adds its bias",
    );
}

#[test]
fn task_3_whole_llama() {
    check_whole("llama");
}

#[test]
fn task_3_whole_qwen2() {
    check_whole("qwen2");
}

#[test]
fn task_3_whole_qwen3() {
    check_whole("qwen3");
}

fn check_whole(family: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_decoder/{family}"));
    resting_on(&of_a_decoder(), || case.check("logits", &model(&case).forward(&tokens(&case))));
}

const EMBEDDING: &Part =
    &Part { task: "week1-day5 task 1", what: "the embedding", check: check_embedding };
const TRANSFORMER_BLOCK: &Part =
    &Part { task: "week1-day5 task 2", what: "the transformer block", check: check_blocks };

fn check_embedding() {
    task_1_embedding();
    task_1_as_output();
}

fn check_blocks() {
    ["llama", "qwen2", "qwen3"].into_iter().for_each(check_block);
}

/// What a decoder is made of, from the first day on.
fn of_a_decoder() -> Vec<&'static Part> {
    let own = [parts::TABLES, parts::MASK, EMBEDDING, TRANSFORMER_BLOCK];
    parts::OF_A_BLOCK.into_iter().chain(own).collect()
}

/// And what a model is made of that is loaded from a file.
fn of_a_loaded_model() -> Vec<&'static Part> {
    const DECODER: &Part =
        &Part { task: "week1-day5 task 3", what: "the decoder", check: check_decoders };
    of_a_decoder().into_iter().chain([DECODER]).collect()
}

fn check_decoders() {
    for family in ["llama", "qwen2", "qwen3"] {
        let fixtures = fixtures();
        let case = fixtures.case(&format!("task_3_decoder/{family}"));
        case.check("logits", &model(&case).forward(&tokens(&case)));
    }
}

#[test]
fn task_3_without_layers_tied() {
    check_without_layers("tied", false);
}

#[test]
fn task_3_without_layers_untied() {
    check_without_layers("untied", true);
}

/// Without diagnosis: where no layer runs, a final norm inside the loop over the layers is as good
/// as none.
fn check_without_layers(output: &str, with_head: bool) {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/no_layers");
    let what = format!("logits of a decoder without layers, {output}");
    if let Err(difference) = check::compare(
        &what,
        &without_layers(with_head),
        &case.tensor(output),
        case.tolerance(output),
    ) {
        panic!(
            "{difference}\n  without layers the embedding, the final norm and the output head are \
             left: the norm stands once, after the loop"
        );
    }
}

#[test]
fn task_3_tokens_are_checked() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/qwen3");
    let model = model(&case);
    let refused = |tokens: &[u32]| model.check(tokens).expect_err("to be refused").to_string();
    assert_eq!(model.context(), 64);
    model.check(&[0, 36]).expect("both are in the vocabulary of 37");
    model.check(&[1; 64]).expect("exactly full");
    assert!(refused(&[]).contains("no tokens"), "{}", refused(&[]));
    assert!(
        refused(&[1, 37]).contains("token 37 at position 1")
            && refused(&[1, 37]).contains("0 to 36"),
        "{}",
        refused(&[1, 37])
    );
    assert!(
        refused(&[1; 65]).contains("65 tokens") && refused(&[1; 65]).contains("64"),
        "{}",
        refused(&[1; 65])
    );
}

/// A checkpoint may promise more positions than there is room for: the tables, the check and
/// whoever asks must agree.
#[test]
fn task_3_the_context_is_limited() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/qwen3");
    let mut config = model(&case).config;
    config.max_positions = 1_000_000;
    let model =
        Model::build(config, &mut |name, _| Ok(case.tensor(name))).expect("all weights are there");
    assert_eq!((model.context(), model.config.max_positions), (MAX_CONTEXT, MAX_CONTEXT));
    assert_eq!(model.blocks[0].attention.rope.cos.shape()[0], MAX_CONTEXT);
    assert!(model.check(&vec![1; MAX_CONTEXT + 1]).is_err());
}

/// The first activation that differs from PyTorch's names the function to look at.
#[test]
fn task_3_every_activation_of_the_embedded_model() {
    without_layers(false);
    let folder = embedded_model();
    let config = ModelConfig::from_folder(&folder).expect("a configuration");
    let checkpoint = Checkpoint::open(&folder).expect("weights");
    let model = Model::build(config, &mut |name, shape| {
        let stored = checkpoint.tensor(name, shape)?;
        assert_eq!(stored.dtype, Dtype::BF16, "{name}");
        let value = |bytes: &[u8]| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]);
        Ok(tensor(shape, stored.bytes.chunks_exact(2).map(value).collect()))
    })
    .expect("all weights are there");

    let fixtures = Fixtures::open("week1_day5_activations");
    let case = fixtures.case("task_3_activations/tiny_story");
    let numbers = |name: &str| case.value(name).as_array().expect("a list").clone();
    let positions: Vec<_> =
        numbers("positions").iter().map(|p| p.as_u64().expect("a position") as usize).collect();
    let mut found = HashMap::new();
    activations(&model, &tokens(&case), &mut |name, value| {
        found.insert(name.to_owned(), value.clone());
    });
    for name in numbers("names").iter().map(|name| name.as_str().expect("a name")) {
        let found = found.get(name).unwrap_or_else(|| panic!("the model has no activation {name}"));
        let found = found.select(Axis(found.ndim() - 2), &positions);
        let expected = case.tensor(name);
        if let Err(difference) = check::compare(name, &found, &expected, case.tolerance(name)) {
            panic!(
                "the first activation that differs from PyTorch's is {name}\n  computed by {}\n\
                 {difference}\n  positions {positions:?} of the sequence",
                tasks_of(name).join(" or ")
            );
        }
    }
}

fn embedded_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story")
}

// Task 4

fn stored<'a>(dtype: Dtype, shape: &'a [usize], bytes: &'a [u8]) -> StoredTensor<'a> {
    StoredTensor { name: "some.weight", dtype, shape, bytes }
}

fn check_to_f32(case: &str, dtype: Dtype, size: usize) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    let (bits, expected) = (case.integers("bits"), case.tensor("values"));
    // One byte in front: values of a mapped file may begin anywhere.
    let mut bytes = vec![0xAA];
    bytes.extend(bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)));
    let found = to_f32(&stored(dtype, bits.shape(), &bytes[1..])).expect("this type is supported");
    let wrong = |(bits, (found, expected)): (&usize, (&f32, &f32))| {
        // By bits, for 0 and −0 are equal by value; and any NaN will do.
        let equal = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        (!equal).then(|| {
            format!("{dtype} with the bits {bits:#06x}: found {found:e}, expected {expected:e}")
        })
    };
    let pairs = || bits.iter().zip(found.iter().zip(&expected));
    let first = pairs().find_map(wrong).unwrap_or_default();
    let kinds = kinds_that_are_wrong(dtype, pairs().map(|pair| (*pair.0, wrong(pair).is_some())));
    check::assert_close_noting(
        &format!("{dtype} as f32"),
        &found,
        &expected,
        Tolerance::Relative(0.0),
        &format!("\n  first    {first}{kinds}"),
    );
    assert!(first.is_empty(), "{first}{kinds}");
}

/// Which kinds of numbers are wrong, if it is not all of them.
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
fn task_4_bf16() {
    check_to_f32("task_4_to_f32/bf16", Dtype::BF16, 2);
}

#[test]
fn task_4_f16() {
    check_to_f32("task_4_to_f32/f16", Dtype::F16, 2);
}

#[test]
fn task_4_f32() {
    check_to_f32("task_4_to_f32/f32", Dtype::F32, 4);
}

/// Types that are not converted, and how many bytes a number of theirs takes.
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
fn task_4_another_type_is_refused_by_name() {
    for (dtype, size) in OTHERS {
        let result = to_f32(&stored(dtype, &[2], &[1; 16][..2 * size]));
        let Err(error) = result else {
            panic!(
                "a tensor was converted although its type, {dtype}, is not supported: f32, bf16 \
                 and f16 are, and no other"
            )
        };
        let message = error.to_string();
        for part in ["some.weight", &dtype.to_string(), "BF16"] {
            // In whatever case: the message may name types as Rust, safetensors or PyTorch do.
            let named = message.to_lowercase().contains(&part.to_lowercase());
            assert!(
                named,
                "the error names the tensor, its type and the supported types: {message:?} does \
                 not name {part}"
            );
        }
    }
}

/// A weight and its name in the checkpoint.
type Weight = (String, Tensor);

/// A folder that is gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tiny-llm-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// A model folder with the weights of a case, spread over `shards` files of `dtype`.
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
        // A folder that stays behind in the temporary directory harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a safetensors file of f32, or of bf16 (the upper halves).
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

/// Every weight that the case's model asks for, by name.
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
fn task_4_one_file_and_shards() {
    let fixtures = fixtures();
    for (family, shards) in [("llama", 1), ("qwen2", 2), ("qwen3", 3)] {
        let case = fixtures.case(&format!("task_3_decoder/{family}"));
        let folder = Folder::with_model(
            &format!("{family}-{shards}"),
            &case,
            &weights(&case),
            Dtype::F32,
            shards,
        );
        let model = load_model(&folder.0).expect("a whole model");
        let tied = model.config.tie_word_embeddings;
        let found = if model.lm_head.is_none() { "None" } else { "Some" };
        let property = "lm_head is None if the output head is tied to the embedding, and otherwise \
                        what the file has as lm_head.weight";
        assert_eq!(
            model.lm_head.is_none(),
            tied,
            "{family}: lm_head is {found} where tie_word_embeddings is {tied}: {property}"
        );
        let parts = of_a_loaded_model();
        resting_on(&parts, || case.check("logits", &model.forward(&tokens(&case))));
    }
}

#[test]
fn task_4_half_precision_weights() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/llama");
    let folder = Folder::with_model("bf16", &case, &weights(&case), Dtype::BF16, 1);
    let model = load_model(&folder.0).expect("a whole model");
    let upper_half = |x: f32| f32::from_bits(x.to_bits() & 0xFFFF_0000);
    check::assert_close(
        "the embedding",
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
        "the output head",
        head,
        &case.tensor("lm_head.weight").mapv(upper_half),
        0.0,
    );
    let down = &model.blocks[1].mlp.down_proj;
    check::assert_close(
        "layer 1's down_proj",
        down,
        &case.tensor("model.layers.1.mlp.down_proj.weight").mapv(upper_half),
        0.0,
    );
}

#[test]
fn task_4_what_is_wrong_is_named() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_decoder/llama");
    let good = weights(&case);
    let refused = |folder: &Path, parts: &[&str]| {
        let what = parts.join(", ");
        let error = panics::catch(|| load_model(folder).err()).unwrap_or_else(|panic| {
            if panic.is_todo() {
                panic.go_on();
            }
            panic!(
                "`load_model` panicked at {}: {}\n  a bad file is an error to be returned, and \
                 here it says {what}",
                panic.place,
                panic.message()
            )
        });
        let error = error.unwrap_or_else(|| {
            panic!(
                "a folder with a fault was loaded, but it must be refused with a message that says \
                 {what}"
            )
        });
        let message = format!("{error:#}");
        assert!(!message.contains('\n'), "more than one line: {message}");
        for part in parts {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
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
fn task_4_every_missing_weight_is_named() {
    let fixtures = fixtures();
    // One has biases, the other norms of heads; both are parts that other models do not have.
    for family in ["qwen2", "qwen3"] {
        let case = fixtures.case(&format!("task_3_decoder/{family}"));
        let all = weights(&case);
        for missing in all.iter().map(|(name, _)| name).filter(|name| !name.contains(".0.")) {
            let rest: Vec<Weight> =
                all.iter().filter(|(name, _)| name != missing).cloned().collect();
            let folder = Folder::with_model("one-missing", &case, &rest, Dtype::F32, 1);
            let what = format!("{family}'s folder without {missing}");
            let loaded = check::assert_accepts(&what, || load_model(&folder.0));
            let Err(error) = loaded else {
                panic!(
                    "{what} was loaded: every weight that the configuration asks for must be \
                     there, or the model is another"
                )
            };
            let message = format!("{error:#}");
            assert!(message.contains(missing.as_str()), "{what}: {message:?} does not name it");
        }
    }
}

#[test]
fn task_4_the_embedded_model() {
    let model = load_model(&embedded_model()).expect("the embedded model");
    let fixtures = Fixtures::open("week1_day5_activations");
    let case = fixtures.case("task_3_activations/tiny_story");
    let positions: Vec<_> = case
        .value("positions")
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| p.as_u64().expect("a position") as usize)
        .collect();
    resting_on(&of_a_loaded_model(), || {
        case.check("logits", &model.forward(&tokens(&case)).select(Axis(1), &positions));
    });
}

#[test]
fn task_4_tensors_of_odd_length() {
    for (dtype, bytes) in [
        (Dtype::F32, [1.5f32, -2.0, 3.0].map(f32::to_le_bytes).concat()),
        (Dtype::BF16, vec![0xc0, 0x3f, 0x00, 0xc0, 0x40, 0x40]),
        (Dtype::F16, vec![0x00, 0x3e, 0x00, 0xc0, 0x00, 0x42]),
    ] {
        let stored = StoredTensor { name: "odd", dtype, shape: &[3], bytes: &bytes };
        let found = to_f32(&stored).expect("three numbers");
        check::compare(
            &format!("{dtype:?}: 1.5, −2 and 3 as f32"),
            &found,
            &tensor(&[3], vec![1.5, -2.0, 3.0]),
            0.0,
        )
        .unwrap_or_else(|text| panic!("{text}"));
    }
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day5.rs"]
mod fresh;
