//! Week 2, day 4, task 5: what a converter decides.

use tiny_llm::week2::{
    recipe::{
        Dimensions, fitting, permute_rows_for_half_split, permute_rows_for_interleaved, q4_k_m,
        row_order, use_more_bits,
    },
    target::{Target, tensor_type_for},
};
use tiny_llm_formats::{Tensor, config::ModelConfig, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_panics},
    fixtures::Fixtures,
};

use super::fixtures;

#[test]
fn task_5_permute_rows() {
    for case in ["task_5_permute/1_heads", "task_5_permute/2_heads", "task_5_permute/3_heads"] {
        check_permute(case);
    }
}

#[track_caller]
fn check_permute(case: &str) {
    let case = fixtures().case(case);
    let (rows, n_heads) = (case.count("rows"), case.count("n_heads"));
    let of =
        |order: Vec<usize>| tensor(&[order.len()], order.iter().map(|&row| row as f32).collect());
    case.check("interleaved", &of(permute_rows_for_interleaved(rows, n_heads)));
    case.check("half_split", &of(permute_rows_for_half_split(rows, n_heads)));
}

fn config(family: &str) -> ModelConfig {
    let json = format!(
        r#"{{"model_type": "{family}", "hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8,
        "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 10, "max_position_embeddings": 16, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": false}}"#
    );
    ModelConfig::from_json(&json, "config.json of the test").expect("a configuration")
}

#[test]
fn task_5_row_order() {
    check_permute("task_5_permute/3_heads");
    let shown = |family: &str, name: &str| match row_order(&config(family), name) {
        None => format!("{family} {name}: as they are"),
        Some(order) => format!("{family} {name}: {order:?}"),
    };
    let names = [
        "attn_q.weight",
        "attn_k.weight",
        "attn_k.bias",
        "attn_v.weight",
        "attn_output.weight",
        "attn_q_norm.weight",
        "ffn_up.weight",
    ];
    let mut found: Vec<String> =
        names.iter().map(|name| shown("llama", &format!("blk.3.{name}"))).collect();
    found.extend([
        shown("llama", "token_embd.weight"),
        shown("qwen2", "blk.3.attn_q.weight"),
        shown("qwen3", "blk.3.attn_k.weight"),
    ]);
    // Row 0 of each head, then its rows 4, 1, 5 and so on. There are 6 query heads and 2 key heads.
    let heads = |n: usize| {
        (0..n)
            .flat_map(|head| [0, 4, 1, 5, 2, 6, 3, 7].map(|row| 8 * head + row))
            .collect::<Vec<usize>>()
    };
    let mut expected = vec![
        format!("llama blk.3.attn_q.weight: {:?}", heads(6)),
        format!("llama blk.3.attn_k.weight: {:?}", heads(2)),
        format!("llama blk.3.attn_k.bias: {:?}", heads(2)),
    ];
    let kept = [
        "llama blk.3.attn_v.weight",
        "llama blk.3.attn_output.weight",
        "llama blk.3.attn_q_norm.weight",
        "llama blk.3.ffn_up.weight",
    ];
    let kept = kept.into_iter().chain([
        "llama token_embd.weight",
        "qwen2 blk.3.attn_q.weight",
        "qwen3 blk.3.attn_k.weight",
    ]);
    expected.extend(kept.map(|name| format!("{name}: as they are")));
    assert_answer("row_order of several tensors", &found, &expected);
}

#[test]
fn task_5_use_more_bits() {
    check_more_bits(&fixtures());
}

#[track_caller]
fn check_more_bits(fixtures: &Fixtures) {
    let case = fixtures.case("task_5_mix/more_bits");
    let models: Vec<usize> = case.read("n_layers");
    let most = *models.last().expect("some models");
    let mut found = Tensor::zeros(vec![models.len(), most]);
    for (i, &n_layers) in models.iter().enumerate() {
        for layer in 0..n_layers {
            found[[i, layer]] = f32::from(u8::from(use_more_bits(layer, n_layers)));
        }
    }
    case.check_rows(
        "layers",
        &models.iter().map(|n| format!("{n} layers")).collect::<Vec<_>>(),
        &found,
    );
}

#[test]
fn task_5_q4_k_m_type_of_each_matrix() {
    check_mix();
}

#[track_caller]
fn check_mix() {
    check_more_bits(&fixtures());
    let mut found = Vec::new();
    for tied in [false, true] {
        let dimensions = Dimensions { n_layers: 9, group: 2, tied };
        let whole = ["token_embd.weight", "output.weight"].map(str::to_owned);
        let parts = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"];
        let layers = [0, 1, 3, 8]
            .into_iter()
            .flat_map(|layer| parts.map(|part| format!("blk.{layer}.{part}.weight")));
        for name in
            whole.into_iter().chain(layers).filter(|name| !(tied && name == "output.weight"))
        {
            if q4_k_m(&name, &dimensions) == TensorType::Q6_K {
                found.push(format!("{name}{}", if tied { " (tied)" } else { "" }));
            }
        }
    }
    // llama.cpp's choice for a model of nine layers.
    let parts = |end: &str| {
        let layer = |l: usize| {
            [format!("blk.{l}.attn_v.weight{end}"), format!("blk.{l}.ffn_down.weight{end}")]
        };
        [0, 3, 8].into_iter().flat_map(layer).collect::<Vec<_>>()
    };
    let mut expected = vec!["output.weight".to_owned()];
    expected.extend(parts(""));
    expected.push("token_embd.weight (tied)".to_owned());
    expected.extend(parts(" (tied)"));
    assert_answer("q4_k_m: the matrices stored in Q6_K", &found, &expected);
}

#[test]
fn task_5_fitting() {
    check_fitting();
}

#[track_caller]
fn check_fitting() {
    let found: Vec<String> = [
        TensorType::Q2_K,
        TensorType::Q3_K,
        TensorType::Q4_K,
        TensorType::Q5_K,
        TensorType::Q6_K,
        TensorType::Q8_0,
        TensorType::Q4_0,
    ]
    .into_iter()
    .flat_map(|wanted| {
        [768, 960, 100].map(|cols| format!("{wanted} in rows of {cols}: {}", fitting(wanted, cols)))
    })
    .collect();
    let expected = [
        ("Q2_K", "Q4_0"),
        ("Q3_K", "Q4_0"),
        ("Q4_K", "Q5_0"),
        ("Q5_K", "Q5_1"),
        ("Q6_K", "Q8_0"),
        ("Q8_0", "Q8_0"),
        ("Q4_0", "Q4_0"),
    ];
    let expected: Vec<String> = expected
        .into_iter()
        .flat_map(|(wanted, instead)| {
            [(768, wanted), (960, instead), (100, "F16")]
                .map(|(cols, found)| format!("{wanted} in rows of {cols}: {found}"))
        })
        .collect();
    assert_answer("fitting: the type used if rows are not whole blocks", &found, &expected);
}

#[test]
fn task_5_tensor_types_with_rows_of_960() {
    check_mix();
    check_fitting();
    // SmolLM2-360M: 32 layers, rows of 960 and 2,560, a tied embedding.
    let dimensions = Dimensions { n_layers: 32, group: 3, tied: true };
    let of = |name: &str, shape: &[usize]| {
        tensor_type_for(Target::Q4_K_M, name, shape, &dimensions).name()
    };
    let found = [
        of("token_embd.weight", &[49152, 960]),
        of("blk.0.attn_q.weight", &[960, 960]),
        of("blk.0.attn_v.weight", &[320, 960]),
        of("blk.0.ffn_down.weight", &[960, 2560]),
        of("blk.4.ffn_down.weight", &[960, 2560]),
        of("blk.4.ffn_up.weight", &[2560, 960]),
        of("blk.4.attn_norm.weight", &[960]),
    ];
    assert_answer(
        "types of SmolLM2-360M in Q4_K_M",
        &found,
        &["Q8_0", "Q5_0", "Q8_0", "Q6_K", "Q4_K", "Q5_0", "F32"],
    );
}

#[test]
fn task_5_row_order_with_equal_query_and_key_heads() {
    let mut config = config("llama");
    config.n_kv_heads = config.n_heads;
    let expected: Vec<usize> =
        (0..6).flat_map(|head| [0, 4, 1, 5, 2, 6, 3, 7].map(|row| 8 * head + row)).collect();
    for name in ["blk.0.attn_k.weight", "blk.12.attn_k.weight", "blk.100.attn_q.bias"] {
        let found = row_order(&config, name);
        assert!(
            found.as_ref() == Some(&expected),
            "row_order of {name}, with 6 query and 6 key heads of size 8: found {found:?}, \
             expected {expected:?}: permute queries and keys in every layer, with or without \
             grouped heads"
        );
    }
}

/// The configuration states the head size. It need not be E / H_q (Mistral Nemo and Qwen3).
#[test]
fn task_5_row_order_with_various_head_sizes() {
    for (hidden_size, head_dim) in [(120, 8), (48, 16), (6, 4), (50, 8)] {
        let mut config = config("llama");
        (config.hidden_size, config.head_dim) = (hidden_size, head_dim);
        for (name, heads) in [("attn_q", 6), ("attn_k", 2)] {
            let half = head_dim / 2;
            let expected: Vec<usize> = (0..heads * head_dim)
                .map(|row| (row / head_dim * head_dim) + row % 2 * half + row % head_dim / 2)
                .collect();
            let call = format!(
                "row_order of blk.0.{name}.weight, {heads} heads of size {head_dim}, hidden size \
                 {hidden_size}"
            );
            let found =
                assert_accepts(&call, || row_order(&config, &format!("blk.0.{name}.weight")));
            assert!(
                found.as_ref() == Some(&expected),
                "{call}: found {found:?}, expected {expected:?}: a head has head_dim rows, whatever \
                 the hidden size"
            );
        }
    }
}

#[test]
fn task_5_use_more_bits_with_many_layers() {
    for n_layers in [72, 80, 126] {
        for layer in 0..n_layers {
            let eighth = n_layers / 8;
            let (first, last) = (layer < eighth, layer >= 7 * n_layers / 8);
            let expected = first || last || (layer - eighth) % 3 == 2;
            let found = use_more_bits(layer, n_layers);
            assert!(
                found == expected,
                "use_more_bits({layer}, {n_layers}): found {found}, expected {expected}: true for \
                 the first eighth, the last eighth, and every third layer between"
            );
        }
    }
}

#[test]
fn task_5_row_order_panics_on_odd_head_size() {
    let mut config = config("llama");
    config.head_dim = 7;
    for name in ["blk.0.attn_q.weight", "blk.0.attn_k.bias"] {
        assert_panics(&format!("row_order of {name}, with heads of size 7"), || {
            row_order(&config, name)
        });
    }
    assert!(
        row_order(&config, "blk.0.attn_v.weight").is_none(),
        "row_order of blk.0.attn_v.weight must be None: values are never permuted"
    );
}

#[test]
fn task_5_permutations_are_inverses() {
    for (n_heads, head_dim) in [(1, 2), (4, 2), (5, 6), (3, 64), (1, 128), (64, 4), (4, 0)] {
        let rows = n_heads * head_dim;
        let there = permute_rows_for_interleaved(rows, n_heads);
        let back = permute_rows_for_half_split(rows, n_heads);
        let what = format!("permutations of {n_heads} heads of size {head_dim}");
        assert!(
            there.len() == rows && back.len() == rows,
            "{what}: they have {} and {} rows, expected {rows} each",
            there.len(),
            back.len()
        );
        for (row, &source) in there.iter().enumerate() {
            assert!(
                back.get(source) == Some(&row) && source / head_dim == row / head_dim,
                "{what}: row {row} comes from row {source}, but the inverse takes row {source} \
                 from {:?}, expected {row} in the same head",
                back.get(source)
            );
        }
        // Adjacent rows come from rows half a head apart, and the first ones are in order.
        for (i, pair) in there.chunks_exact(2).enumerate() {
            let first = i * 2 / head_dim * head_dim + i % (head_dim / 2);
            assert!(
                pair == [first, first + head_dim / 2],
                "{what}: rows {} and {} come from rows {pair:?}, expected rows half a head apart, \
                 {first} and {}",
                2 * i,
                2 * i + 1,
                first + head_dim / 2
            );
        }
    }
    for (rows, n_heads) in [(12, 5), (15, 5), (8, 0), (0, 0)] {
        assert_panics(&format!("permute_rows_for_interleaved({rows}, {n_heads})"), || {
            permute_rows_for_interleaved(rows, n_heads)
        });
        assert_panics(&format!("permute_rows_for_half_split({rows}, {n_heads})"), || {
            permute_rows_for_half_split(rows, n_heads)
        });
    }
}

#[test]
fn task_5_q4_k_m_with_various_layer_counts() {
    check_mix();
    for n_layers in [1, 2, 7, 8, 16, 80] {
        for layer in 0..n_layers {
            for tied in [false, true] {
                let dimensions = Dimensions { n_layers, group: 4, tied };
                for part in
                    ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
                {
                    let more =
                        matches!(part, "attn_v" | "ffn_down") && use_more_bits(layer, n_layers);
                    let expected = if more { TensorType::Q6_K } else { TensorType::Q4_K };
                    let name = format!("blk.{layer}.{part}.weight");
                    let found = q4_k_m(&name, &dimensions);
                    assert!(
                        found == expected,
                        "q4_k_m of {name} in a model of {n_layers} layers: found {found}, expected {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn task_5_fitting_with_various_row_lengths() {
    check_fitting();
    for tensor_type in TensorType::ALL {
        for cols in [1, 16, 31, 32, 33, 64, 255, 256, 257, 272, 288, 512, 800] {
            let found = fitting(tensor_type, cols);
            let (own, of_32) = (cols % tensor_type.block_len() == 0, cols % 32 == 0);
            let k = tensor_type.block_len() == 256;
            let right = match (own, k && of_32) {
                (true, _) => found == tensor_type,
                (false, true) => found.block_len() == 32,
                (false, false) => found == TensorType::F16,
            };
            assert!(
                right,
                "fitting({tensor_type}, {cols}): found {found}; keep the type if rows are whole \
                 blocks; if rows in a K-quant are only whole blocks of 32, use a type with blocks \
                 of 32; otherwise use F16"
            );
        }
    }
}
