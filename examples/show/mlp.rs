//! Day 4: what the last MLP of a trained model changes, just before the model names a colour.

use std::{fs, path::Path};

use tiny_llm::week1::{attention::softmax, mlp::SwiGlu, norm::RmsNorm};
use tiny_llm_formats::{
    Tensor,
    header::Header,
    matmul,
    tensor::{tensor, transpose},
};
use tiny_llm_harness::fixtures::Fixtures;

/// Prints the five most probable next tokens without the last MLP and with it.
pub(crate) fn show() {
    let case = Fixtures::open("show").case("day4/last_mlp");
    let (text, vocabulary) = (case.value("text"), case.value("vocabulary"));
    println!("{}\n", text.as_str().unwrap_or_default());

    let model = Weights::open();
    let layer = "model.layers.4";
    let norm = |name: &str| RmsNorm { weight: model.get(name), eps: 1e-6 };
    let projection = |name: &str| model.get(&format!("{layer}.mlp.{name}.weight"));
    let mlp = SwiGlu {
        gate_proj: projection("gate_proj"),
        up_proj: projection("up_proj"),
        down_proj: projection("down_proj"),
    };
    let head = model.get("model.embed_tokens.weight");
    let (last, before) =
        (norm("model.norm.weight"), norm(&format!("{layer}.post_attention_layernorm.weight")));

    let stream = case.tensor("stream");
    let with = &stream + &mlp.forward(&before.forward(&stream));
    for (what, stream) in [("without the last MLP", stream), ("with it", with)] {
        let p = softmax(&matmul(&last.forward(&stream), transpose(&head)));
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| p[[0, b]].total_cmp(&p[[0, a]]));
        println!("{what}:");
        for &token in &order[..5] {
            let word = vocabulary[token].as_str().unwrap_or("?");
            let share = p[[0, token]];
            let bar = "█".repeat((share * 40.0).round() as usize);
            println!("  {:>5.1} %  {word:<12} {bar}", share * 100.0);
        }
        println!();
    }
}

/// The embedded model's file, read whole, because day 5 is the first to map a file.
struct Weights {
    header: Header,
    bytes: Vec<u8>,
}

impl Weights {
    fn open() -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story/model.safetensors");
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let header = Header::read(&bytes).unwrap_or_else(|e| panic!("{}: {e:#}", path.display()));
        Self { header, bytes }
    }

    /// Returns a tensor that is stored in bf16, the upper half of an f32.
    fn get(&self, name: &str) -> Tensor {
        let place = &self.header.tensors[name];
        let halves = self.bytes[place.bytes.clone()].chunks_exact(2);
        let value = |b: &[u8]| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16);
        tensor(&place.shape, halves.map(value).collect())
    }
}
