//! Week 2, day 1, task 3: the model over rows.

use ndarray::Axis;
use tiny_llm::week2::{
    cache::{CacheType, KvCache},
    load::{self, Rope},
    matrix::Matrix,
    model::Workspace,
    rope::RopeLayout,
    rows::Row,
};
use tiny_llm_formats::{config::ModelConfig, tensor::tensor};
use tiny_llm_harness::check::{self, resting_on};

use super::{
    ATTENTION, CACHE, cache_of, check_run, check_whole, fixtures, forward_in, forward_with, model,
    plan, splits,
};

#[test]
fn task_3_whole_prompt_llama() {
    check_whole("llama");
}

#[test]
fn task_3_whole_prompt_qwen2() {
    check_whole("qwen2");
}

#[test]
fn task_3_whole_prompt_qwen3() {
    check_whole("qwen3");
}

#[test]
fn task_3_whole_prompt_llama_with_biases() {
    check_whole("llama_with_biases");
}

#[test]
fn task_3_interleaved_rope() {
    let case = fixtures().case("task_3_model/llama");
    let found =
        forward_in(&model(&case, RopeLayout::Interleaved), &case.ids("a"), &[5, 3], CacheType::F32);
    check_run(&case, "logits_interleaved", &found, "chunks of [5, 3] rows, interleaved RoPE");
}

#[test]
fn task_3_every_prompt_split() {
    let case = fixtures().case("task_3_model/qwen3");
    let (model, tokens) = (model(&case, RopeLayout::HalfSplit), case.ids("a"));
    for chunks in splits() {
        let found = forward_in(&model, &tokens, &chunks, CacheType::F32);
        check_run(&case, "logits_a", &found, &format!("chunks of {chunks:?} rows"));
    }
}

#[test]
pub(super) fn task_3_one_token_at_a_time() {
    for family in ["llama", "qwen2"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        let found = forward_in(
            &model(&case, RopeLayout::HalfSplit),
            &case.ids("a"),
            &[1; 8],
            CacheType::F32,
        );
        let what = format!("{}/logits_a, one row at a time", case.name());
        check::assert_close(&what, &found, &case.tensor("logits_a"), case.tolerance("logits_a"));
    }
}

#[test]
fn task_3_f16_cache_barely_changes_logits() {
    let case = fixtures().case("task_3_model/llama");
    let model = model(&case, RopeLayout::HalfSplit);
    let full = forward_in(&model, &case.ids("a"), &[6, 2], CacheType::F32);
    check_run(&case, "logits_a", &full, "chunks of [6, 2] rows, with a cache of f32");
    let found = forward_in(&model, &case.ids("a"), &[6, 2], CacheType::F16);
    // f16 keeps 11 bits, so keys and values are off by at most 2⁻¹¹. After three layers the error
    // is a small part of the logits.
    let expected = case.tensor("logits_a");
    let largest = expected.iter().fold(0f32, |m, x| m.max(x.abs()));
    let what = "logits with a cache of f16";
    let why = "the tolerance is 1 % of the largest logit, and rounding to f16 causes a far smaller \
               error";
    check::assert_close_because(what, &found, &expected, 0.01 * largest, why);
}

/// Returns rows of the sequence `a` (eight tokens, index 0 in the cache), mixed with rows of `b`
/// (six tokens, index 2).
fn interleaved(a: &[u32], b: &[u32]) -> [Vec<Row>; 3] {
    let a = |position: usize| Row { token: a[position], position, sequence: 0, logits: true };
    let b = |position: usize| Row { token: b[position], position, sequence: 2, logits: true };
    [
        vec![a(0), b(0), a(1), a(2), b(1)],
        vec![b(2), a(3)],
        vec![a(4), b(3), b(4), a(5), a(6), b(5), a(7)],
    ]
}

#[test]
fn task_3_mixed_rows_of_two_sequences() {
    for family in ["llama", "qwen3"] {
        let case = fixtures().case(&format!("task_3_model/{family}"));
        let model = model(&case, RopeLayout::HalfSplit);
        let (plan, mut work, mut cache) =
            (plan(), Workspace::default(), cache_of(&model, 3, 8, CacheType::F32));
        let width = model.config.vocab_size;
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        for rows in interleaved(&case.ids("a"), &case.ids("b")) {
            let logits = model.forward(&rows, &mut cache, &plan, &mut work);
            assert_eq!(
                logits.len(),
                rows.len() * width,
                "number of logits for {} rows and a vocabulary of {width}",
                rows.len()
            );
            for (row, logits) in rows.iter().zip(logits.chunks_exact(width)) {
                if row.sequence == 0 { &mut of_a } else { &mut of_b }.extend_from_slice(logits);
            }
        }
        let how = "mixed rows of two sequences, in three forward passes";
        for (name, logits) in [("logits_a", of_a), ("logits_b", of_b)] {
            check_run(&case, name, &tensor(&[logits.len() / width, width], logits), how);
        }
        let found = (cache.len(0), cache.len(1), cache.len(2), cache.computed());
        assert_eq!(
            found,
            (8, 0, 6, 14),
            "after three forward passes over two sequences: (positions in the cache for sequences \
             0, 1 and 2, computed positions)"
        );
    }
}

#[test]
fn task_3_only_q_norm_or_only_k_norm() {
    let case = fixtures().case("task_3_model/qwen3");
    let tokens = case.ids("a");
    for of_queries in [true, false] {
        let (mut normed, mut zero) =
            (model(&case, RopeLayout::HalfSplit), model(&case, RopeLayout::HalfSplit));
        for (normed, zero) in normed.layers.iter_mut().zip(&mut zero.layers) {
            let zeros = |n: &Option<Vec<f32>>| n.as_ref().map(|norm| vec![0.0; norm.len()]);
            (zero.q_norm, zero.k_norm) = (None, None);
            let weight = if of_queries {
                (normed.q_norm, normed.k_norm) = (zeros(&normed.q_norm), None);
                &mut zero.q_proj.weight
            } else {
                (normed.q_norm, normed.k_norm) = (None, zeros(&normed.k_norm));
                &mut zero.k_proj.weight
            };
            let (rows, cols) = (weight.rows, weight.cols);
            *weight = Matrix::from_f32(rows, cols, &vec![0.0; rows * cols]);
        }
        let which = if of_queries { "q" } else { "k" };
        resting_on(&[CACHE, ATTENTION], || {
            check::assert_agrees(
                &format!(
                    "logits of a model with only a {which}_norm, whose weight is 0, compared with \
                     a model with a {which}_proj of 0 and no norms"
                ),
                &forward_in(&normed, &tokens, &[8], CacheType::F32),
                &forward_in(&zero, &tokens, &[8], CacheType::F32),
                1e-5,
                "both make all scores 0; a layer may have one of the two norms without the other",
            );
        });
    }
}

#[test]
fn task_3_token_ids_above_65_535() {
    let case = fixtures().case("task_3_model/llama");
    let small = model(&case, RopeLayout::HalfSplit);
    let mut large = model(&case, RopeLayout::HalfSplit);
    let (rows, e) = (small.config.vocab_size, small.config.hidden_size);
    let table: Vec<f32> = case.tensor("model.embed_tokens.weight").iter().copied().collect();
    // The same rows at the end of a longer table, with an output head of the same 37 rows.
    let longer = [vec![0.0; (70_000 - rows) * e], table.clone()].concat();
    large.embedding = Matrix::from_f32(70_000, e, &longer);
    large.lm_head = large.lm_head.or_else(|| Some(Matrix::from_f32(rows, e, &table)));
    let tokens = case.ids("a");
    let moved: Vec<u32> = tokens.iter().map(|token| token + 70_000 - rows as u32).collect();
    resting_on(&[CACHE, ATTENTION], || {
        check::assert_agrees(
            "logits for tokens from 69,963 on, compared with tokens from 0 on that have the same \
             embedding rows",
            &forward_in(&large, &moved, &[8], CacheType::F32),
            &forward_in(&small, &tokens, &[8], CacheType::F32),
            0.0,
            "token t must use row t of the embedding: don't convert ids to a narrower type than 32 \
             bits",
        );
    });
}

/// Computes 200 rows in one pass. They get the same logits as one by one.
#[test]
fn task_3_200_rows_match_one_row_at_a_time() {
    let case = fixtures().case("task_3_model/qwen3");
    let mut config = case.value("config").clone();
    config["max_position_embeddings"] = 256.into();
    let model = {
        let config = ModelConfig::from_json(&config.to_string(), "the fixture's config");
        let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
        load::build(config.expect("a configuration"), &rope, usize::MAX, &mut |name, shape| {
            let weight = case.tensor(name);
            let (rows, cols) = if let [rows, cols] = *shape { (rows, cols) } else { (1, shape[0]) };
            Ok(Matrix::from_f32(rows, cols, &weight.iter().copied().collect::<Vec<_>>()))
        })
        .expect("build must find every weight")
    };
    let tokens: Vec<u32> = (0..200).map(|i| i * 7 % 37).collect();
    resting_on(&[CACHE, ATTENTION], || {
        check::assert_agrees(
            "logits of 200 rows in one pass, compared with 200 passes of one row",
            &forward_in(&model, &tokens, &[200], CacheType::F32),
            &forward_in(&model, &tokens, &[1; 200], CacheType::F32),
            1e-4,
            "a row's logits must not depend on which other rows are in the same pass",
        );
    });
}

/// A workspace keeps its buffers from one pass to the next. Their contents are unspecified.
#[test]
fn task_3_workspace_is_reusable_across_models() {
    let cases = ["llama", "qwen3"].map(|name| fixtures().case(&format!("task_3_model/{name}")));
    let models = cases.each_ref().map(|case| model(case, RopeLayout::HalfSplit));
    let mut work = Workspace::default();
    for (i, chunks) in [(0, &[8][..]), (1, &[3, 1, 4]), (0, &[1, 7]), (1, &[8]), (0, &[2, 6])] {
        let tokens = cases[i].ids("a");
        let found = forward_with(&mut work, &models[i], &tokens, chunks, CacheType::F32);
        let how = format!(
            "chunks of {chunks:?} rows, with a workspace reused after other models and numbers of \
             rows"
        );
        check_run(&cases[i], "logits_a", &found, &how);
    }
}

#[test]
fn task_3_returns_only_requested_logits() {
    let case = fixtures().case("task_3_model/qwen2");
    let model = model(&case, RopeLayout::HalfSplit);
    let (plan, mut work, mut cache) =
        (plan(), Workspace::default(), cache_of(&model, 1, 8, CacheType::F32));
    let (tokens, expected) = (case.ids("a"), case.tensor("logits_a"));
    for (start, wanted) in [(0, vec![1, 3]), (4, vec![]), (6, vec![0])] {
        let len = if start == 0 { 4 } else { 2 };
        let row = |i: usize| Row {
            token: tokens[start + i],
            position: start + i,
            sequence: 0,
            logits: wanted.contains(&i),
        };
        let rows: Vec<Row> = (0..len).map(row).collect();
        let logits = model.forward(&rows, &mut cache, &plan, &mut work).to_vec();
        let width = model.config.vocab_size;
        assert_eq!(
            logits.len(),
            wanted.len() * width,
            "number of logits for {len} rows, of which {} request their {width} logits",
            wanted.len()
        );
        let expected =
            expected.select(Axis(0), &wanted.iter().map(|i| start + i).collect::<Vec<_>>());
        let what = format!("{}/logits_a, rows {wanted:?} from position {start} on", case.name());
        check::assert_close(
            &what,
            &tensor(&[wanted.len(), width], logits),
            &expected,
            case.tolerance("logits_a"),
        );
    }
}

#[test]
fn task_3_panics_on_invalid_rows() {
    let case = fixtures().case("task_3_model/llama");
    let model = model(&case, RopeLayout::HalfSplit);
    let row = |token: u32, position: usize, sequence: usize| Row {
        token,
        position,
        sequence,
        logits: true,
    };
    let run = |rows: &[Row]| {
        let mut cache = cache_of(&model, 2, 8, CacheType::F32);
        model.forward(
            &[row(1, 0, 0), row(2, 1, 0)],
            &mut cache,
            &plan(),
            &mut Workspace::default(),
        );
        model.forward(rows, &mut cache, &plan(), &mut Workspace::default()).len()
    };
    check::assert_accepts(
        "forward with the next two positions of sequence 0, and position 0 of sequence 1",
        || run(&[row(3, 2, 0), row(1, 0, 1), row(4, 3, 0)]),
    );
    check::assert_panics("forward with position 1, which is already in the cache", || {
        run(&[row(3, 1, 0)])
    });
    check::assert_panics(
        "forward with position 3, when only positions 0 and 1 are in the cache",
        || run(&[row(3, 3, 0)]),
    );
    check::assert_panics(
        "forward with positions 3 and 2 in this order, when positions 0 and 1 are in the cache",
        || run(&[row(3, 3, 0), row(3, 2, 0)]),
    );
    check::assert_panics("forward with token 37, with a vocabulary of 37", || {
        run(&[row(37, 2, 0)])
    });
    check::assert_panics("forward with sequence 2, when the cache has 2 sequences", || {
        run(&[row(3, 0, 2)])
    });
}
