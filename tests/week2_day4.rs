//! Week 2, day 4: K-quants in Q4_K and Q6_K, the search for scale and minimum, what a converter
//! decides, writing GGUF.
//!
//! Expected values: `python-ref/oracle/week2_day4.py`.

use tiny_llm::week2::{
    blocks::{
        error::relative_error,
        f16_at, q4_k, q6_k,
        search::{ScaleAndMin, fit_scale_and_min, importance, search_scale_and_min},
    },
    gguf::writer::{head, lay_out, put_string, put_value},
    recipe::{
        Dimensions, Target, fitting, permute_rows_for_half_split, permute_rows_for_interleaved,
        q4_k_m, row_order, tensor_type_for, use_more_bits,
    },
};
use tiny_llm_formats::{
    Tensor,
    config::ModelConfig,
    gguf::{Array, Metadata, TensorType, Value},
    tensor::tensor,
};
use tiny_llm_harness::{
    check::assert_answer,
    fixtures::{Case, Fixtures, random},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day4")
}

/// The bytes of a case, in pieces of `N`.
fn bytes<const N: usize>(case: &Case, name: &str) -> Vec<[u8; N]> {
    let bytes: Vec<u8> =
        case.integers(name).iter().map(|&byte| u8::try_from(byte).expect("a byte")).collect();
    let (pieces, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "the fixture holds whole pieces");
    pieces.to_vec()
}

/// The rows of a tensor `[n, N]`.
fn rows<const N: usize>(x: &Tensor) -> Vec<[f32; N]> {
    x.outer_iter()
        .map(|row| row.iter().copied().collect::<Vec<_>>().try_into().expect("N values in a row"))
        .collect()
}

fn of_bytes<'a>(shape: &[usize], bytes: impl IntoIterator<Item = &'a u8>) -> Tensor {
    tensor(shape, bytes.into_iter().map(|&byte| f32::from(byte)).collect())
}

/// Reads the blocks of a case; what is not written stays NaN.
#[track_caller]
fn check_dequantize<const BYTES: usize>(
    case: &str,
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 256]),
) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    let blocks = bytes::<BYTES>(&case, "blocks");
    let mut weights = Vec::new();
    for block in &blocks {
        let mut out = [f32::NAN; 256];
        dequantize(block, &mut out);
        weights.extend(out);
    }
    case.check("weights", &tensor(&[blocks.len(), 256], weights));
}

/// What the weights of a case lose in a format: at most 2 % more than with llama.cpp's quantizer.
#[track_caller]
fn check_errors<const BYTES: usize>(
    case: &str,
    quantize: impl Fn(&[f32; 256]) -> [u8; BYTES],
    decode: impl Fn(&[u8; BYTES]) -> [f32; 256],
) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
    let kinds = case
        .value("kinds")
        .as_array()
        .expect("a list")
        .iter()
        .map(|kind| kind.as_str().expect("a name").to_owned());
    let recorded = case.tensor("error");
    let lines = kinds.zip(&recorded).map(|(kind, &recorded)| {
        let x = case.tensor(&kind);
        let back: Vec<f32> =
            rows::<256>(&x).iter().flat_map(|row| decode(&quantize(row))).collect();
        let found = relative_error_of(&x, &back);
        (
            found <= 1.02 * recorded,
            format!("\n  {kind:<12} {:8.4} %  {:8.4} %", 100.0 * found, 100.0 * recorded),
        )
    });
    let (good, lines): (Vec<_>, Vec<_>) = lines.unzip();
    assert!(
        good.into_iter().all(|good| good),
        "too much is lost; expected at most 2 % more than llama.cpp loses\n  weights         \
         found  llama.cpp{}",
        lines.concat()
    );
}

/// Computed here, so that day 3 is not needed for it.
fn relative_error_of(x: &Tensor, y: &[f32]) -> f32 {
    let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let difference = squares(&mut x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)));
    (difference / squares(&mut x.iter().map(|&x| f64::from(x)))).sqrt() as f32
}

/// What is smaller than expected is as good as what is expected.
fn at_least(found: Vec<f32>, expected: &Tensor) -> Tensor {
    let values = found.iter().zip(expected).map(|(&x, &y)| if x < y { y } else { x });
    tensor(&[found.len()], values.collect())
}

// Task 1: Q4_K is read

#[test]
fn task_1_scales_and_minimums() {
    let fixtures = fixtures();
    check_scales(&fixtures);
}

#[track_caller]
fn check_scales(fixtures: &Fixtures) {
    let case = fixtures.case("task_1_scales/distinct");
    let found: Vec<_> =
        bytes::<12>(&case, "packed").iter().map(q4_k::scales_and_minimums).collect();
    let shape = [found.len(), 8];
    case.check("scales", &of_bytes(&shape, found.iter().flat_map(|(scales, _)| scales)));
    case.check("minimums", &of_bytes(&shape, found.iter().flat_map(|(_, minimums)| minimums)));
}

#[track_caller]
fn check_q4_k(case: &str) {
    check_scales(&fixtures());
    check_dequantize(&format!("task_1_dequantize/{case}"), q4_k::dequantize);
}

#[test]
fn task_1_dequantize_q4_k_of_whole_numbers() {
    check_q4_k("whole");
}

#[test]
fn task_1_dequantize_q4_k_of_random_bytes() {
    check_q4_k("random");
}

#[test]
fn task_1_dequantize_q4_k_of_the_model() {
    check_q4_k("model");
}

// Task 2: Q6_K is read and written

#[track_caller]
fn check_q6_k(case: &str) {
    check_dequantize(&format!("task_2_dequantize/{case}"), q6_k::dequantize);
}

#[test]
fn task_2_dequantize_q6_k_of_whole_numbers() {
    check_q6_k("whole");
}

#[test]
fn task_2_dequantize_q6_k_of_random_bytes() {
    check_q6_k("random");
}

#[test]
fn task_2_dequantize_q6_k_of_the_model() {
    check_q6_k("model");
}

/// The integers 0…63 of a block.
fn q6_k_integers(block: &[u8]) -> [u8; 256] {
    std::array::from_fn(|i| {
        let (half, i) = (i / 128, i % 128);
        let low = block[64 * half + i % 64] >> (i / 64 * 4) & 15;
        low | (block[128 + 32 * half + i % 32] >> (i / 32 * 2) & 3) << 4
    })
}

fn decode_q6_k(block: &[u8; q6_k::BYTES]) -> [f32; 256] {
    let (integers, d) = (q6_k_integers(block), f16_at(block, 208));
    std::array::from_fn(|i| {
        d * f32::from(block[192 + i / 16] as i8) * (f32::from(integers[i]) - 32.0)
    })
}

#[test]
fn task_2_quantize_q6_k_of_weights_that_fit() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_quantize/exact");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q6_k::quantize).collect();
    let n = blocks.len();
    case.check("d", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 208)).collect()));
    case.check(
        "scales",
        &tensor(
            &[n, 16],
            blocks
                .iter()
                .flat_map(|block| &block[192..208])
                .map(|&byte| f32::from(byte as i8))
                .collect(),
        ),
    );
    case.check(
        "integers",
        &of_bytes(
            &[n, 256],
            blocks.iter().map(|block| q6_k_integers(block)).collect::<Vec<_>>().as_flattened(),
        ),
    );
}

#[test]
fn task_2_quantize_q6_k_loses_no_more_than_llama_cpp() {
    check_errors("task_2_quantize/errors", q6_k::quantize, decode_q6_k);
}

#[test]
fn task_2_quantize_q6_k_for_the_scales_that_are_stored() {
    let fixtures = fixtures();
    let x = fixtures.case("task_2_quantize/errors").tensor("heavy_tails");
    for row in rows::<256>(&x) {
        let block = q6_k::quantize(&row);
        let (back, d) = (decode_q6_k(&block), f16_at(&block, 208));
        for i in 0..256 {
            let scale = d * f32::from(block[192 + i / 16] as i8);
            is_nearest("scale", i, [row[i], back[i]], scale, [-32.0 * scale, 31.0 * scale]);
        }
    }
}

/// No other code of what is `stored` comes closer.
#[track_caller]
fn is_nearest(stored: &str, i: usize, [x, back]: [f32; 2], scale: f32, ends: [f32; 2]) {
    let reached = x.clamp(ends[0].min(ends[1]), ends[0].max(ends[1]));
    let steps = (reached - back).abs() / scale.abs();
    let why = if steps > 1.5 {
        "more than rounding can explain: look at signs, at the clamp, and in which byte and half \
         the integer stands"
            .to_owned()
    } else {
        format!(
            "the integers are to be the nearest, not cut off, and for {stored} as stored, after \
             the rounding"
        )
    };
    assert!(
        scale == 0.0 || steps <= 0.501,
        "weight {i}: {x} came back as {back}, {steps:.3} steps away, where another integer is at \
         most half a step away\n  {why}"
    );
}

// Task 3: the search

#[test]
fn task_3_fit_scale_and_min() {
    let fixtures = fixtures();
    check_fit(&fixtures);
}

#[track_caller]
fn check_fit(fixtures: &Fixtures) {
    let case = fixtures.case("task_3_fit/groups");
    let [x, importance, codes] =
        ["x", "importance", "codes"].map(|name| rows::<32>(&case.tensor(name)));
    let found: Vec<ScaleAndMin> =
        (0..x.len()).map(|i| fit_scale_and_min(&x[i], &importance[i], &codes[i])).collect();
    // A minimum that was not clamped spoils the scale too: it is named by the minimum.
    case.check("minimum", &tensor(&[x.len()], found.iter().map(|fit| fit.min).collect()));
    case.check("scale", &tensor(&[x.len()], found.iter().map(|fit| fit.scale).collect()));
}

#[test]
fn task_3_fit_scale_and_min_of_equal_codes() {
    // Their determinant is 0, but sums that are rounded may leave a little more.
    for seed in 0..64 {
        let draw = rows::<32>(&random(seed, &[2, 32]));
        let importance = draw[1].map(f32::abs);
        let fit = fit_scale_and_min(&draw[0], &importance, &[5.0; 32]);
        assert!(
            fit.min == 0.0 && fit.scale.abs() <= 0.4,
            "all codes are 5 and all weights within -2 and 2 (seed {seed}): found {fit:?}, \
             expected a minimum of 0, and a scale by which 5 comes within the weights"
        );
    }
}

#[test]
fn task_3_search_scale_and_min_of_groups_that_fit() {
    let fixtures = fixtures();
    check_fit(&fixtures);
    let case = fixtures.case("task_3_search/exact");
    let found: Vec<_> =
        rows::<32>(&case.tensor("x")).iter().map(|x| search_scale_and_min(x, 15)).collect();
    case.check("scale", &tensor(&[found.len()], found.iter().map(|fit| fit.scale).collect()));
    case.check("minimum", &tensor(&[found.len()], found.iter().map(|fit| fit.min).collect()));
}

#[test]
fn task_3_search_scale_and_min_with_4_bits() {
    check_search("top_15");
}

#[test]
fn task_3_search_scale_and_min_with_2_bits() {
    check_search("top_3");
}

/// The error that is left, weighted: as small as that of the documented search, or smaller.
#[track_caller]
fn check_search(case: &str) {
    let fixtures = fixtures();
    check_fit(&fixtures);
    let case = fixtures.case(&format!("task_3_search/{case}"));
    let top = u8::try_from(case.count("top")).expect("a small number");
    let error = |x: &[f32; 32]| {
        let found = search_scale_and_min(x, top);
        assert!(
            found.scale.is_finite() && found.min >= 0.0,
            "found {found:?}, expected numbers, and a minimum from 0 on"
        );
        let weights = importance(x);
        let square = |(x, w): (&f32, &f32)| {
            let code = if found.scale > 0.0 {
                ((x + found.min) / found.scale).round_ties_even().clamp(0.0, f32::from(top))
            } else {
                0.0
            };
            f64::from(*w) * f64::from(found.scale * code - found.min - x).powi(2)
        };
        (x.iter().zip(&weights).map(square).sum::<f64>()
            / weights.iter().map(|&w| f64::from(w)).sum::<f64>())
        .sqrt() as f32
    };
    let found = rows(&case.tensor("x")).iter().map(error).collect();
    case.check("error", &at_least(found, &case.tensor("error")));
}

// Task 4: Q4_K is written

#[test]
fn task_4_pack_scales_and_minimums() {
    let fixtures = fixtures();
    check_pack(&fixtures);
}

#[track_caller]
fn check_pack(fixtures: &Fixtures) {
    let case = fixtures.case("task_4_pack/distinct");
    let (scales, minimums) = (bytes::<8>(&case, "scales"), bytes::<8>(&case, "minimums"));
    let packed: Vec<_> = scales
        .iter()
        .zip(&minimums)
        .map(|(scales, minimums)| q4_k::pack_scales_and_minimums(scales, minimums))
        .collect();
    case.check("packed", &of_bytes(&[packed.len(), 12], packed.as_flattened()));
}

/// The scales and minimums of a block, in 6 bits, unpacked here, so that task 1 is not needed for
/// it.
fn six_bits(block: &[u8]) -> ([u8; 8], [u8; 8]) {
    let s = &block[4..16];
    let at = |j: usize, first: usize, shift: usize| {
        if j < 4 { s[first + j] & 63 } else { s[4 + j] >> shift & 15 | s[first + j - 4] >> 6 << 4 }
    };
    (std::array::from_fn(|j| at(j, 0, 0)), std::array::from_fn(|j| at(j, 4, 4)))
}

fn q4_k_integers(block: &[u8]) -> [u8; 256] {
    std::array::from_fn(|i| block[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15)
}

/// Scale and minimum of weight `i`.
fn q4_k_scale(block: &[u8], i: usize) -> (f32, f32) {
    let (scales, minimums) = six_bits(block);
    (f16_at(block, 0) * f32::from(scales[i / 32]), f16_at(block, 2) * f32::from(minimums[i / 32]))
}

fn decode_q4_k(block: &[u8; q4_k::BYTES]) -> [f32; 256] {
    let integers = q4_k_integers(block);
    std::array::from_fn(|i| {
        let (scale, minimum) = q4_k_scale(block, i);
        scale * f32::from(integers[i]) - minimum
    })
}

#[test]
fn task_4_quantize_q4_k_of_weights_that_fit() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let case = fixtures.case("task_4_quantize/exact");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q4_k::quantize).collect();
    let n = blocks.len();
    case.check("d", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 0)).collect()));
    case.check("dmin", &tensor(&[n], blocks.iter().map(|block| f16_at(block, 2)).collect()));
    let (scales, minimums): (Vec<_>, Vec<_>) = blocks.iter().map(|block| six_bits(block)).unzip();
    case.check("scales", &of_bytes(&[n, 8], scales.as_flattened()));
    case.check("minimums", &of_bytes(&[n, 8], minimums.as_flattened()));
    case.check(
        "integers",
        &of_bytes(
            &[n, 256],
            blocks.iter().map(|block| q4_k_integers(block)).collect::<Vec<_>>().as_flattened(),
        ),
    );
}

#[test]
fn task_4_quantize_q4_k_of_one_value_throughout() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let case = fixtures.case("task_4_quantize/constant");
    let blocks: Vec<_> = rows(&case.tensor("x")).iter().map(q4_k::quantize).collect();
    case.check(
        "weights",
        &tensor(&[blocks.len(), 256], blocks.iter().flat_map(decode_q4_k).collect()),
    );
}

#[test]
fn task_4_quantize_q4_k_loses_no_more_than_llama_cpp() {
    check_pack(&fixtures());
    check_errors("task_4_quantize/errors", q4_k::quantize, decode_q4_k);
}

#[test]
fn task_4_quantize_q4_k_for_the_scales_that_are_stored() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    let x = fixtures.case("task_4_quantize/errors").tensor("heavy_tails");
    for row in rows::<256>(&x) {
        let block = q4_k::quantize(&row);
        let back = decode_q4_k(&block);
        for i in 0..256 {
            let (scale, minimum) = q4_k_scale(&block, i);
            is_nearest(
                "scale and minimum",
                i,
                [row[i], back[i]],
                scale,
                [-minimum, 15.0 * scale - minimum],
            );
        }
    }
}

#[test]
fn task_4_what_is_written_is_read() {
    let fixtures = fixtures();
    check_pack(&fixtures);
    check_scales(&fixtures);
    let x = fixtures.case("task_4_quantize/errors").tensor("model");
    for row in rows::<256>(&x) {
        let block = q4_k::quantize(&row);
        let mut back = [f32::NAN; 256];
        q4_k::dequantize(&block, &mut back);
        let error = relative_error(&row, &back);
        assert!(
            error < 0.1,
            "a block of the embedded model comes back with an error of {error:.3}, expected about \
             0.075"
        );
    }
}

// Task 5: what a converter decides

#[test]
fn task_5_permute_rows() {
    for case in ["task_5_permute/1_heads", "task_5_permute/2_heads", "task_5_permute/3_heads"] {
        check_permute(case);
    }
}

#[track_caller]
fn check_permute(case: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(case);
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
    // Row 0 of each head, then its row 4, its row 1, and so on: 6 query heads, 2 of keys.
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
    assert_answer("the order of rows, tensor by tensor", &found, &expected);
}

#[test]
fn task_5_use_more_bits() {
    let fixtures = fixtures();
    check_more_bits(&fixtures);
}

#[track_caller]
fn check_more_bits(fixtures: &Fixtures) {
    let case = fixtures.case("task_5_mix/more_bits");
    let models: Vec<usize> = case
        .value("n_layers")
        .as_array()
        .expect("a list")
        .iter()
        .map(|n| n.as_u64().expect("a count") as usize)
        .collect();
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
fn task_5_the_mix_q4_k_m() {
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
    // As llama.cpp chooses for a model of nine layers.
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
    assert_answer("the matrices that are Q6_K in Q4_K_M", &found, &expected);
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
    assert_answer("what stands in where rows are no whole blocks", &found, &expected);
}

#[test]
fn task_5_types_of_a_model_with_rows_of_960() {
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

// Task 6: writing GGUF

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
        "7, then the strings \"\" and \"né\"",
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
    assert_answer("the bytes of values of several types", &found, &expected);
}

fn tensors_of(case: &Case) -> Vec<(String, Vec<usize>, TensorType)> {
    let list = case.value("tensors").as_array().expect("a list");
    list.iter()
        .map(|entry| {
            let shape = entry[1]
                .as_array()
                .expect("a shape")
                .iter()
                .map(|n| n.as_u64().expect("a size") as usize)
                .collect();
            (
                entry[0].as_str().expect("a name").to_owned(),
                shape,
                entry[2].as_str().expect("a type").parse().expect("a type"),
            )
        })
        .collect()
}

/// One file, aligned to 32 and to 8 bytes.
const FILES: [&str; 2] = ["task_6_write/file", "task_6_write/file_of_8"];

#[test]
fn task_6_lay_out() {
    check_lay_out();
}

#[track_caller]
fn check_lay_out() {
    for case in FILES {
        let fixtures = fixtures();
        let case = fixtures.case(case);
        let table = lay_out(&tensors_of(&case), case.count("alignment")).expect("all of them fit");
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
            "names, shapes and types in the order in which they came"
        );
    }
}

#[test]
fn task_6_lay_out_refuses_what_cannot_be() {
    check_lay_out();
    for shape in [vec![3, 100], vec![usize::MAX / 16, 256]] {
        let error =
            lay_out(&[("blk.0.ffn_up.weight".to_owned(), shape.clone(), TensorType::Q4_K)], 32)
                .expect_err("this cannot be stored");
        let text = error.to_string();
        assert!(
            text.contains("blk.0.ffn_up.weight"),
            "shape {shape:?}: the message must name the tensor: {text}"
        );
    }
}

#[test]
fn task_6_head_of_a_file() {
    check_values();
    check_lay_out();
    for (alignment, expected) in [(32, 32), (16, 32), (64, 64)] {
        let found = head(&Metadata::new("the test"), &[], alignment).len();
        assert!(
            found <= expected,
            "the head of a file with nothing in it and an alignment of {alignment}: {found} bytes, expected {expected}, the next multiple after its 24 bytes"
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
        let fixtures = fixtures();
        let case = fixtures.case(case);
        let alignment = case.count("alignment");
        let table = lay_out(&tensors_of(&case), alignment).expect("all of them fit");
        case.check_bytes("head", &head(&metadata, &table, alignment));
    }
    let wide = head(&metadata, &lay_out(&[], 32).expect("nothing to lay out"), 4096);
    assert!(
        wide.len() == 4096 && wide.ends_with(&[0; 3000]),
        "with an alignment of 4096 it ends at byte {}, expected zeros up to 4096",
        wide.len()
    );
}

#[test]
fn task_5_row_order_with_as_many_key_heads() {
    let mut config = config("llama");
    config.n_kv_heads = config.n_heads;
    let expected: Vec<usize> =
        (0..6).flat_map(|head| [0, 4, 1, 5, 2, 6, 3, 7].map(|row| 8 * head + row)).collect();
    for name in ["blk.0.attn_k.weight", "blk.12.attn_k.weight", "blk.100.attn_q.bias"] {
        let found = row_order(&config, name);
        assert!(
            found.as_ref() == Some(&expected),
            "the order of rows of {name}, with 6 query and 6 key heads of 8: found {found:?}, expected {expected:?}: queries and keys turn in every layer, with groups and without"
        );
    }
}

#[test]
fn task_5_use_more_bits_of_many_layers() {
    for n_layers in [72, 80, 126] {
        for layer in 0..n_layers {
            let eighth = n_layers / 8;
            let (first, last) = (layer < eighth, layer >= 7 * n_layers / 8);
            let expected = first || last || (layer - eighth) % 3 == 2;
            let found = use_more_bits(layer, n_layers);
            assert!(
                found == expected,
                "use_more_bits({layer}, {n_layers}): found {found}, expected {expected}: the first eighth, the last eighth, and every third between"
            );
        }
    }
}

#[test]
fn task_6_whatever_the_size() {
    let tensors = [
        ("blk.0.experts".to_owned(), vec![3, 5, 64], TensorType::Q8_0),
        (String::new(), vec![2, 1, 3, 4], TensorType::F32),
        ("large".to_owned(), vec![1 << 33], TensorType::F32),
        ("behind".to_owned(), vec![1], TensorType::F32),
    ];
    let table = lay_out(&tensors, 8).unwrap_or_else(|error| {
        panic!("tensors of one, three and four axes, one without a name, are legal: {error}")
    });
    let found: Vec<_> = table.iter().map(|tensor| (tensor.offset, tensor.size)).collect();
    let expected = [(0, 1020), (1024, 96), (1120, 4 << 33), (1120 + (4usize << 33), 4)];
    assert!(
        found == expected,
        "offsets and sizes of [3, 5, 64] in Q8_0 and [2, 1, 3, 4], [2³³], [1] in F32, aligned to 8: found {found:?}, expected {expected:?}"
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
        "the head of a file with those four tensors and no metadata: {} bytes, expected {}; the first that differs is byte {at:?}: lengths and offsets have eight bytes",
        found.len(),
        expected.len()
    );
    let long = "ü".repeat(50_000);
    let mut out = Vec::new();
    put_string(&mut out, &long);
    assert!(
        out.len() == 100_008 && out[..8] == 100_000u64.to_le_bytes(),
        "put_string of 100,000 bytes: found {} bytes that begin with {:?}, expected the length in eight bytes and the text",
        out.len(),
        &out[..8.min(out.len())]
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day4.rs"]
mod fresh;
