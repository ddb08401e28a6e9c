//! Week 4, day 7, task 5: the best of a vocabulary, and the whole model within its budget.

use tiny_llm::week4::streamed::{
    engine::{Engine, Options},
    head::{TopK, best_tokens},
    layer::OUTPUTS,
    shape::TINY_LLM,
    storage::Counts,
    store::split_row,
};
use tiny_llm_harness::allocations;

use super::*;

/// Returns the offers that `TopK` keeps, at most `k`.
fn kept(k: usize, offers: &[(u32, f32)]) -> Vec<(u32, f32)> {
    let (mut arena, _) = arena_of(256);
    let mut top = TopK::new(&mut arena, k).expect("TopK::new must succeed: there is room");
    for (token, logit) in offers {
        top.offer(*token, *logit);
    }
    top.best().collect()
}

#[test]
fn task_5_top_k_keeps_the_best_offers() {
    check::resting_on(&[BUDGET], || {
        let offers: [(u32, f32); 9] = [
            (0, 1.0),
            (1, -2.0),
            (2, 5.0),
            (3, 1.0),
            (4, 5.0),
            (5, f32::NEG_INFINITY),
            (6, -2.0),
            (7, 4.5),
            (8, 5.0),
        ];
        for k in [1, 2, 3, 5, 9, 12] {
            for n in 0..=offers.len() {
                let call = format!("the {k} best of {:?}", &offers[..n]);
                let found = check::assert_accepts(&call, || kept(k, &offers[..n]));
                let mut expected = offers[..n].to_vec();
                // A stable sort: of equal logits, the first one offered comes first.
                expected.sort_by(|a, b| b.1.total_cmp(&a.1));
                expected.truncate(k);
                check::assert_answer(&call, &found, &expected);
            }
        }
        for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
            let [a, b] = zeros;
            let call = format!("the 1 best of [(0, {a:?}), (1, {b:?})]");
            let found = check::assert_accepts(&call, || kept(1, &[(0, a), (1, b)]));
            let tokens: Vec<u32> = found.iter().map(|kept| kept.0).collect();
            check::assert_answer(&format!("{call}: the first of equal logits"), &tokens, &vec![0]);
        }
        let nan = [(0, f32::NAN), (1, 2.0), (2, f32::NAN), (3, 3.0), (4, -f32::NAN)];
        let found = check::assert_accepts("TopK with NaN", || kept(4, &nan));
        check::assert_answer(
            "the 4 best of NaN, 2, NaN, 3, NaN",
            &found,
            &vec![(3, 3.0), (1, 2.0)],
        );
    });
}

#[test]
fn task_5_best_tokens_is_independent_of_the_chunk_size() {
    check::resting_on(&[INT8, BUDGET, STORE], || {
        let (file, shape) = (file(), shape());
        let row = shape.row_bytes(Component::Head);
        let x: Vec<i16> = (0..shape.hidden).map(|i| (i as i16 * 37 % 19 - 9) * 1500).collect();
        let x = Activations { values: &x, scale: 0.0001 };
        // Computes all logits at once, which a streamed model avoids.
        let mut all: Vec<(u32, f32)> = Vec::new();
        for token in 0..shape.tokens {
            let at = shape.place(Component::Head, token) as usize;
            let (scale, weights) = split_row(&file[at..at + row]);
            all.push((token as u32, dot(weights, x.values) as f32 * (scale * x.scale)));
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (chunk, k) in [(row, 1), (1000, 5), (128 * row, 20), (1 << 16, 40)] {
            let (mut arena, _) = arena_of(4096);
            let mut top = TopK::new(&mut arena, k).expect("TopK::new must succeed: there is room");
            // The documented limit of scratch, and no more.
            let (scratch, _) = arena_of(4 * OUTPUTS);
            let mut store = open(&file);
            let mut chunk = vec![0; chunk];
            let call = format!(
                "the {k} best of {} tokens, {} bytes of weights at once",
                shape.tokens,
                chunk.len()
            );
            let done = check::assert_accepts(&call, || {
                best_tokens(&mut store, x, &mut chunk, scratch, &mut top)
            });
            assert_done(&call, done);
            check::assert_answer(&call, &top.best().collect::<Vec<_>>(), &all[..k].to_vec());
            let counts = store.counts();
            check::assert_answer(
                &format!("{call}: (bytes read, seeks)"),
                &(counts.bytes, counts.seeks),
                &((shape.vocabulary * row) as u64, 1),
            );
        }
    });
}

/// Whole chunks of padding rows, which belong to no token, are read but not offered.
#[test]
fn task_5_best_tokens_skips_rows_that_are_not_tokens() {
    check::resting_on(&[INT8, BUDGET, STORE], || {
        let shape = Shape { vocabulary: 2 * OUTPUTS + 44, tokens: OUTPUTS - 28, ..shape() };
        let mut file = shape.header().to_vec();
        file.resize(shape.file_bytes() as usize, 0);
        let row = shape.row_bytes(Component::Head);
        let x = vec![1; shape.hidden];
        let (mut arena, _) = arena_of(2048);
        let mut top =
            TopK::new(&mut arena, OUTPUTS).expect("TopK::new must succeed: there is room");
        let (scratch, _) = arena_of(4 * OUTPUTS);
        let mut store = open(&file);
        let mut chunk = vec![0; 10 * row];
        let call =
            format!("a vocabulary of {} rows, {} of them tokens", shape.vocabulary, shape.tokens);
        let x = Activations { values: &x, scale: 1.0 };
        let done = check::assert_accepts(&call, || {
            best_tokens(&mut store, x, &mut chunk, scratch, &mut top)
        });
        assert_done(&call, done);
        check::assert_answer(
            &format!("{call}: (tokens kept, bytes read)"),
            &(top.best().count(), store.counts().bytes),
            &(shape.tokens, (shape.vocabulary * row) as u64),
        );
    });
}

/// Compares the best tokens at each step of a greedy text.
#[test]
fn task_5_greedy_text_matches_pytorch() {
    check::resting_on(&[INT8, BUDGET, STORE, LAYER], || {
        let (file, fixtures) = (file(), fixtures());
        let case = fixtures.case("task_5_generate/greedy");
        let best: Vec<Vec<u32>> = case.read("best");
        let (arena, _) = arena_of(40_000);
        let options = Options { positions: 12, chunk_rows: 30, top_k: 5 };
        let mut engine = Engine::new(open(&file), arena, options)
            .expect("Engine::new must succeed: there is room");
        let (mut tokens, mut logits) = (Vec::new(), Vec::new());
        let mut next = case.read::<Vec<u32>>("prompt").into_iter();
        let steps = next.len() - 1 + best.len();
        let mut token = next.next();
        for _ in 0..steps {
            engine.feed(token.expect("a token")).expect("feed must accept this token");
            token = next.next();
            if token.is_none() {
                let found: Vec<(u32, f32)> =
                    engine.best().expect("best must return tokens").collect();
                token = Some(found[0].0);
                tokens.push(found.iter().map(|x| x.0).collect::<Vec<_>>());
                logits.extend(found.iter().map(|x| x.1));
            }
        }
        check::assert_answer("the five best tokens of each step", &tokens, &best);
        check::assert_close(
            "task_5_generate/greedy/logits",
            &tensor(&[best.len(), 5], logits),
            &case.tensor("logits"),
            case.scalar("logit_tolerance") as f32,
        );
        check::assert_answer(
            "feed of one token more than the cache has positions",
            &engine.feed(1),
            &Err(Error::Context { positions: 12 }),
        );
    });
}

/// A failed read leaves the cache unchanged, so that the same token can be fed again.
#[test]
fn task_5_feed_can_be_retried_after_a_failed_read() {
    check::resting_on(&[INT8, BUDGET, STORE, LAYER], || {
        /// A storage whose reads fail when a counter reaches 0.
        struct Failing<'a>(&'a [u8], &'a std::cell::Cell<usize>);
        impl Storage for Failing<'_> {
            fn len(&self) -> u64 {
                self.0.len() as u64
            }
            fn read(&mut self, at: u64, out: &mut [u8]) -> Result<usize, i32> {
                let left = self.1.get();
                self.1.set(left.wrapping_sub(1));
                if left == 0 { Err(5) } else { Storage::read(&mut self.0, at, out) }
            }
        }
        let file = file();
        let run = |fail_at: usize| -> (usize, Vec<(u32, u32)>) {
            let left = std::cell::Cell::new(usize::MAX);
            let (arena, _) = arena_of(60_000);
            let store =
                Store::open(Failing(&file, &left)).expect("Store::open must accept this file");
            let options = Options { positions: 12, chunk_rows: 30, top_k: 5 };
            let mut engine = Engine::new(store, arena, options)
                .expect("Engine::new must succeed: there is room");
            let (mut errors, mut found) = (0, Vec::new());
            for token in [3, 1, 4] {
                left.set(fail_at);
                while let Err(error) = engine.feed(token) {
                    assert!(
                        matches!(error, Error::Read { code: Some(5), .. }),
                        "the error of a failed read must be Error::Read with code 5, but it is: \
                         {error}"
                    );
                    assert_eq!(engine.len(), found.len() / 5, "number of positions after an error");
                    errors += 1;
                }
                left.set(usize::MAX);
                let best = engine.best().expect("best must return tokens");
                found.extend(best.map(|(token, x)| (token, x.to_bits())));
            }
            (errors, found)
        };
        let (_, expected) = run(usize::MAX);
        for fail_at in 0..18 {
            let (errors, found) = run(fail_at);
            assert_eq!(
                errors, 3,
                "number of errors, where read {fail_at} of each token fails once"
            );
            assert!(
                found == expected,
                "read {fail_at} of each token failed once: the answers after that differ, but must \
                 be the same as without the failures"
            );
        }
    });
}

/// Returns a file of the full shape: 13 MB of rows, no two of which are equal.
fn tiny_llm() -> Vec<u8> {
    let mut file = TINY_LLM.header().to_vec();
    file.resize(TINY_LLM.file_bytes() as usize, 0);
    let mut state = 1u64;
    for bytes in file[HEADER..].chunks_mut(8) {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // None of the f32 numbers is large, wherever a scale begins.
        let [a, b, c, _, e, f, g, _] = (state >> 3).to_le_bytes();
        bytes.copy_from_slice(&[a, b, c, 0x3b, e, f, g, 0xbb][..bytes.len()]);
    }
    file
}

/// Checks the memory and the reads that the chapter promises for the full shape, to the byte.
#[test]
fn task_5_tiny_llm_shape_meets_its_memory_and_read_limits() {
    check::resting_on(&[INT8, BUDGET, STORE, LAYER], || {
        let file = tiny_llm();
        let (arena, ledger) = arena_of(520 * 1024);
        let (allocated, (counts, fed)) = allocations::count(|| {
            let mut engine = Engine::new(open(&file), arena, Options::default())
                .expect("Engine::new must succeed: there is room");
            engine.feed(31_999).expect("feed must accept this token");
            let before = engine.counts();
            engine.feed(7).expect("feed must accept a second token");
            let fed = engine.counts();
            let best = engine.best().expect("best must return tokens").count();
            assert_eq!(best, 40, "number of best tokens");
            let all = engine.counts();
            let since = |after: Counts| Counts {
                reads: after.reads - before.reads,
                seeks: after.seeks - before.seeks,
                bytes: after.bytes - before.bytes,
            };
            (since(all), since(fed))
        });
        check::assert_answer(
            "allocations on the heap for a token through layer and head",
            &allocated,
            &0,
        );
        let layer = 3 * 4 * 192 + 4 * 96 + 196 + 576 * 196 + 2048 * 196 + 192 * 1028 - 4 * 192;
        check::assert_answer(
            "one token through the layer: (bytes, seeks)",
            &(fed.bytes, fed.seeks),
            &(layer, 3),
        );
        check::assert_answer(
            "one token through layer and head: (bytes, seeks)",
            &(counts.bytes, counts.seeks),
            &(layer + 4 * 192 + 32_000 * 196, 3),
        );
        let peak = ledger.peak();
        assert!(peak <= 256 * 1024, "the peak is {peak} bytes, expected at most 256 KB");
        let parts: Vec<_> =
            ledger.parts().into_iter().filter(|part| !part.what.is_empty()).collect();
        assert!(
            peak >= 236_000,
            "the peak is {peak} bytes, which is less than the sum of the parts: {parts:?}"
        );
        // With one byte less, it fails. With exactly the peak, it succeeds.
        let run = |bytes: usize| {
            let (arena, _) = arena_of(bytes);
            let mut engine = Engine::new(open(&file), arena, Options::default())?;
            engine.feed(7)?;
            engine.best().map(Iterator::count)
        };
        assert_eq!(
            run(peak),
            Ok(40),
            "number of best tokens with a budget of {peak} bytes, exactly the peak"
        );
        match run(peak - 1).expect_err("a budget of one byte less than the peak must be refused") {
            Error::Full { budget, at, .. } => {
                check::assert_answer(
                    "a budget of one byte less than the peak: the budget that the error names",
                    &budget,
                    &(peak - 1),
                );
                let file = at.file().replace('\\', "/");
                assert!(
                    file.contains("week4/streamed/"),
                    "the error names {file}, expected a file in week4/streamed/"
                );
            }
            other => panic!(
                "a budget of one byte less than the peak: found {other:?}, expected Error::Full"
            ),
        }
    });
}
