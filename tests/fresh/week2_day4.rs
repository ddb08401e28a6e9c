//! Week 2, day 4, on fresh inputs.

use half::f16;
use tiny_llm::week2::{
    blocks::{
        q4_k, q6_k,
        search::{ScaleAndMin, fit_scale_and_min, importance, search_scale_and_min},
    },
    gguf::writer::{head, lay_out, put_string, put_value},
    recipe::{
        Dimensions, fitting, permute_rows_for_half_split, permute_rows_for_interleaved, q4_k_m,
        row_order, use_more_bits,
    },
};
use tiny_llm_formats::{
    config::ModelConfig,
    gguf::{Array, Metadata, TensorType, Value},
};
use tiny_llm_harness::fresh::Fresh;
use tiny_llm_kernels::withheld::withhold;

fn weights(fresh: &Fresh) -> [f32; 256] {
    fresh.f32s(256).try_into().expect("256 numbers")
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week2-day4 task 1");
    withhold();
    for _ in 0..3 {
        let mut block: [u8; q4_k::BYTES] = fresh.bytes(q4_k::BYTES).try_into().expect("a block");
        for at in [0, 2] {
            block[at..at + 2].copy_from_slice(&f16::from_f32(fresh.f32()).to_le_bytes());
        }
        let packed = block[4..16].try_into().expect("12 bytes");
        fresh.says("scales and minimums", &q4_k::scales_and_minimums(packed));
        let mut out = [f32::NAN; 256];
        q4_k::dequantize(&block, &mut out);
        fresh.answers("weights", &out, 1e-5);
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week2-day4 task 2");
    withhold();
    for _ in 0..3 {
        let mut block: [u8; q6_k::BYTES] = fresh.bytes(q6_k::BYTES).try_into().expect("a block");
        block[208..].copy_from_slice(&f16::from_f32(fresh.f32()).to_le_bytes());
        let mut out = [f32::NAN; 256];
        q6_k::dequantize(&block, &mut out);
        fresh.answers("weights", &out, 1e-4);
        fresh.says("block", &q6_k::quantize(&weights(&fresh)));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week2-day4 task 3");
    for _ in 0..4 {
        let x: [f32; 32] = fresh.f32s(32).try_into().expect("32 numbers");
        let codes: [f32; 32] = std::array::from_fn(|_| fresh.below(16) as f32);
        let fit = fit_scale_and_min(&x, &importance(&x), &codes);
        fresh.answers("the best for these codes", &[fit.scale, fit.min], 1e-4);
        let near: [f32; 32] = std::array::from_fn(|i| codes[i] * 0.2 - 1.3 + 0.05 * fresh.f32());
        // Doesn't compare the result itself, because a more thorough search may find a better one.
        for (x, top) in [(near, 15), (x, 31)] {
            let found = error(&x, search_scale_and_min(&x, top), top);
            let first = error(&x, from_end_to_end(&x, top), top);
            fresh.says("no worse than the first trial", &[u8::from(found <= first * 1.0001)]);
        }
    }
}

/// Returns the first trial of a search: its largest code represents the largest weight.
fn from_end_to_end(x: &[f32; 32], top: u8) -> ScaleAndMin {
    let lowest = x.iter().copied().fold(0.0, f32::min);
    let highest = x.iter().copied().fold(lowest, f32::max);
    ScaleAndMin { scale: (highest - lowest) / f32::from(top), min: -lowest }
}

/// Returns the weighted error of `x` with the nearest codes.
fn error(x: &[f32; 32], found: ScaleAndMin, top: u8) -> f32 {
    let one = |(&x, w): (&f32, f32)| {
        let code = ((x + found.min) / found.scale).round_ties_even().clamp(0.0, f32::from(top));
        w * (found.scale * code - found.min - x).powi(2)
    };
    x.iter().zip(importance(x)).map(one).sum()
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week2-day4 task 4");
    withhold();
    for _ in 0..3 {
        let eight = || -> [u8; 8] { std::array::from_fn(|_| fresh.below(64) as u8) };
        let (scales, minimums) = (eight(), eight());
        fresh.says("packed", &q4_k::pack_scales_and_minimums(&scales, &minimums));
        // Doesn't compare the block's bytes, because a code may differ by one step.
        let mut back = [0.0; 256];
        q4_k::dequantize(&q4_k::quantize(&weights(&fresh)), &mut back);
        fresh.answers("what comes back from a block", &back, 0.5);
    }
}

#[test]
fn task_5() {
    let fresh = Fresh::new("week2-day4 task 5");
    for _ in 0..4 {
        let (heads, half) = (fresh.from_to(1, 4), fresh.from_to(1, 6));
        let rows = heads * 2 * half;
        fresh.says("interleaved", &permute_rows_for_interleaved(rows, heads));
        fresh.says("half-split", &permute_rows_for_half_split(rows, heads));
        let (n_layers, layer) = (fresh.from_to(2, 60), fresh.below(60));
        let layer = layer % n_layers;
        fresh.says("more bits", &use_more_bits(layer, n_layers));
        let dimensions = Dimensions { n_layers, group: 2, tied: fresh.below(2) == 0 };
        for part in ["attn_v", "ffn_down", "ffn_up", "attn_q"] {
            fresh.says("type", &q4_k_m(&format!("blk.{layer}.{part}.weight"), &dimensions));
        }
        for name in ["token_embd.weight", "output.weight"] {
            fresh.says("type", &q4_k_m(name, &dimensions));
        }
        let types = TensorType::ALL;
        let wanted = types[fresh.from_to(3, types.len() - 1)];
        fresh.says("fitting", &fitting(wanted, 16 * fresh.from_to(1, 64)));

        let kv_heads = fresh.from_to(1, 3);
        let json = format!(
            r#"{{"model_type": "llama", "hidden_size": 48, "num_attention_heads": {},
            "num_key_value_heads": {kv_heads}, "head_dim": {}, "num_hidden_layers": 1,
            "intermediate_size": 64, "vocab_size": 10, "max_position_embeddings": 16,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu"}}"#,
            2 * kv_heads,
            2 * half,
        );
        let config = ModelConfig::from_json(&json, "config.json").expect("a configuration");
        for part in ["attn_q.weight", "attn_k.weight", "attn_k.bias", "attn_v.weight"] {
            fresh.says("order of rows", &row_order(&config, &format!("blk.0.{part}")));
        }
    }
}

#[test]
fn task_6() {
    let fresh = Fresh::new("week2-day4 task 6");
    let mut out = fresh.bytes(3);
    put_string(&mut out, &(fresh.word(7) + "日"));
    let values = [
        Value::U8(fresh.below(256) as u8),
        Value::I16(fresh.below(999) as i16 - 500),
        Value::U32(fresh.below(1 << 30) as u32),
        Value::F32(fresh.f32()),
        Value::Bool(fresh.below(2) == 0),
        Value::String(fresh.word(5)),
        Value::Array(Array::U32(fresh.tokens(4, 1 << 20))),
        Value::U64(fresh.u64()),
        Value::F64(fresh.uniform()),
    ];
    values.iter().for_each(|value| put_value(&mut out, value));
    fresh.says("values", &out);
    for alignment in [32, 64] {
        let mut metadata = Metadata::new("f");
        for value in values.clone() {
            metadata.insert(&format!("{}.{}", fresh.word(3), fresh.word(4)), value);
        }
        let tensors: Vec<(String, Vec<usize>, TensorType)> = (0..4)
            .map(|_| {
                let shape = vec![fresh.from_to(1, 5), 256 * fresh.from_to(1, 3)];
                (fresh.word(8), shape, TensorType::ALL[fresh.below(13)])
            })
            .collect();
        let table = lay_out(&tensors, alignment).expect("whole blocks");
        fresh.says("table", &table);
        fresh.says("head", &head(&metadata, &table, alignment));
    }
}
