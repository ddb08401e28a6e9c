//! Week 1, day 6: generating.

use std::{
    cell::RefCell,
    collections::HashSet,
    fmt,
    ops::ControlFlow,
    panic,
    path::PathBuf,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use tiny_llm::week1::{
    chat::chatml,
    generate::{FinishReason, Limits, argmax, generate, next_token_logits},
    model::Model,
    stream::TextStream,
    weights::load_model,
};
use tiny_llm_formats::{chat::Message, config::ModelConfig, tensor::tensor, text::Tokenizer};
use tiny_llm_harness::{
    check::{assert_agrees, assert_answer, assert_panics},
    fixtures::{Case, Fixtures},
    panics,
};

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day6")
}

fn ids(case: &Case, name: &str) -> Vec<u32> {
    case.integers(name).iter().map(|&id| id as u32).collect()
}

fn embedded_model() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story"))
}

/// One line for each input: what it was, and what came of it. Compared and shown as a whole, for
/// each line says what the others leave open.
#[derive(PartialEq)]
struct Lines(Vec<String>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Compares what `argmax` says with what it should.
fn check_argmax(property: &str, cases: &[(&[f32], u32)]) {
    let line = |logits: &[f32], best| format!("argmax({logits:?}) = {best}");
    let found = cases.iter().map(|&(logits, _)| line(logits, argmax(logits))).collect();
    let expected = cases.iter().map(|&(logits, best)| line(logits, best)).collect();
    assert_answer(property, &Lines(found), &Lines(expected));
}

#[test]
fn task_1_argmax_takes_the_largest() {
    check_argmax(
        "argmax is the index of the largest logit, whatever its sign",
        &[
            (&[0.5, 2.0, -1.0, 1.5], 1),
            (&[3.0], 0),
            (&[0.25, 0.75, 0.5], 1),
            (&[1.0, -4.0, 2.0], 2),
            (&[-5.0, -2.0, -0.5, -9.0], 2),
            (&[-9.0, -8.0, -7.0], 2),
            (&[-1e30, -2e30], 0),
            (&[f32::NEG_INFINITY, -3.0, f32::NEG_INFINITY], 1),
            (&[0.0, f32::INFINITY, 1.0], 1),
            (&[1.0, 1.0 + f32::EPSILON], 1),
        ],
    );
}

#[test]
fn task_1_argmax_takes_the_first_of_equal_logits() {
    check_argmax(
        "of equal logits argmax takes the first (-0.0 and 0.0 are equal)",
        &[(&[1.0, 4.0, 4.0, 0.0, 4.0, 2.0], 1), (&[-0.0, 0.0], 0), (&[f32::NEG_INFINITY; 3], 0)],
    );
}

#[test]
fn task_1_argmax_of_a_large_vocabulary() {
    for best in [255, 256, 300, 65_535, 65_536, 151_935] {
        let mut logits = vec![-1.5; 151_936];
        logits[best as usize] = -0.5;
        let found = argmax(&logits);
        assert!(
            found == best,
            "argmax of 151,936 logits, of which number {best} is the largest\n  found    \
             {found}\n  expected {best}"
        );
    }
}

#[test]
fn task_1_argmax_of_no_logits_panics() {
    assert_panics("argmax of no logits, of which none is the largest", || argmax(&[]));
}

#[test]
fn task_1_next_token_logits_are_those_of_the_last_position() {
    // Before a model is built: task 1 has two functions, and this is the first.
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let fixtures = fixtures();
    let case = fixtures.case("task_1_next_token");
    let config = ModelConfig::from_json(&case.value("config").to_string(), "the fixture's config")
        .expect("a config");
    let model =
        Model::build(config, &mut |name, _| Ok(case.tensor(name))).expect("all weights are there");
    let tokens = ids(&case, "tokens");
    let row = |length: usize| {
        let logits = next_token_logits(&model, &tokens[..length]);
        let n = logits.len();
        assert!(
            n == 61,
            "after {length} tokens: found {n} logits, expected 61: one position's, one for each \
             token of the vocabulary"
        );
        logits
    };
    // Row 0 of the answer is what follows the first token, row 1 the first four, row 2 all seven.
    case.check("output", &tensor(&[3, 61], [1, 4, 7].map(row).concat()));
}

#[test]
fn task_1_next_token_logits_see_every_token() {
    assert_eq!(argmax(&[0.0, 1.0]), 1, "argmax([0.0, 1.0])");
    let fixtures = fixtures();
    let case = fixtures.case("task_1_next_token");
    let mut config = case.value("config").clone();
    config["max_position_embeddings"] = 260.into();
    let config =
        ModelConfig::from_json(&config.to_string(), "the fixture's config").expect("a config");
    let model =
        Model::build(config, &mut |name, _| Ok(case.tensor(name))).expect("all weights are there");
    let length = model.context();
    let tokens: Vec<u32> = (0..length as u32).map(|i| i * 37 % 61).collect();
    let found = next_token_logits(&model, &tokens);
    let batch = ndarray::Array2::from_shape_vec((1, length), tokens).expect("one row");
    let all = model.forward(&batch);
    let last = all.index_axis(ndarray::Axis(0), 0).index_axis_move(ndarray::Axis(0), length - 1);
    let what = format!("logits after as many tokens as fit, {length}");
    let property = "they are the last row of what the model gives for all of these tokens";
    assert_agrees(&what, &tensor(&[found.len()], found), &last.to_owned(), 0.0, property);
}

/// What a generation called.
#[derive(PartialEq)]
enum Call {
    /// `next_logits` with these tokens.
    NextLogits(Vec<u32>),
    /// `choose` with these tokens.
    Choose(Vec<u32>),
    /// `on_token` with this token.
    OnToken(u32),
}
use Call::{Choose, NextLogits, OnToken};

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NextLogits(tokens) => write!(f, "next_logits({tokens:?})"),
            Choose(tokens) => write!(f, "choose({tokens:?})"),
            OnToken(token) => write!(f, "on_token({token})"),
        }
    }
}

/// A generation that came to its end.
struct Ran {
    /// In order.
    calls: Vec<Call>,
    returned: anyhow::Result<FinishReason>,
}

impl Ran {
    /// One line of what the caller of `generate` sees.
    fn line(&self, input: &str) -> String {
        let written: Vec<u32> = self
            .calls
            .iter()
            .filter_map(|call| if let OnToken(token) = call { Some(*token) } else { None })
            .collect();
        let passes = self.calls.iter().filter(|call| matches!(call, NextLogits(_))).count();
        line(input, &written, passes, &self.reason())
    }

    /// One line for each run of the model with the calls that follow it, and one for the end.
    fn steps(&self) -> Lines {
        let mut lines: Vec<String> = Vec::new();
        for call in &self.calls {
            match lines.last_mut() {
                Some(line) if !matches!(call, NextLogits(_)) => *line += &format!(", {call:?}"),
                _ => lines.push(format!("{call:?}")),
            }
        }
        lines.push(format!("returned {}", self.reason()));
        Lines(lines)
    }

    fn reason(&self) -> String {
        self.returned.as_ref().map_or("an error".to_owned(), |reason| format!("{reason:?}"))
    }
}

fn line(input: &str, written: &[u32], passes: usize, returned: &str) -> String {
    let times = if passes == 1 { "time" } else { "times" };
    format!(
        "{input}: on_token got {written:?}, the model ran {passes} {times}, returned {returned}"
    )
}

/// More calls than any of these generations needs.
const ENOUGH: usize = 100;

/// Runs `generate` with a model that wants to write `script` and then 0 for ever; `interrupt` is
/// the token at which `on_token` ends.
fn run(prompt: &[u32], script: &[u32], limits: &Limits, interrupt: Option<u32>) -> Ran {
    let calls = RefCell::new(Vec::new());
    let call = |call| {
        calls.borrow_mut().push(call);
        let n = calls.borrow().len();
        assert!(
            n < ENOUGH,
            "the generation does not end: {n} calls of next_logits, choose and on_token with the \
             prompt {prompt:?}, max_new_tokens {}, a context of {} and the stop tokens {:?}",
            limits.max_new_tokens,
            limits.context,
            limits.stop_tokens
        );
    };
    let logits = |next: u32| -> Vec<f32> {
        (0..20).map(|id| if id == next { -1.0 } else { -2.0 - id as f32 }).collect()
    };
    let mut wants = script.iter().copied();
    let last = RefCell::new(Vec::new());
    let generation = || {
        generate(
            |tokens| {
                call(NextLogits(tokens.to_vec()));
                *last.borrow_mut() = logits(wants.next().unwrap_or(0));
                last.borrow().clone()
            },
            prompt,
            limits,
            |logits, tokens| {
                call(Choose(tokens.to_vec()));
                let last = last.borrow();
                assert!(
                    logits == *last,
                    "choose gets the logits as next_logits gave them\n  found    {logits:?}\n  \
                     expected {last:?}"
                );
                argmax(logits)
            },
            |token| {
                call(OnToken(token));
                if interrupt == Some(token) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        )
    };
    let returned = panics::catch(generation).unwrap_or_else(|panic| panic.go_on());
    Ran { calls: calls.into_inner(), returned }
}

fn limits(max_new_tokens: usize, context: usize, stop_tokens: &[u32]) -> Limits {
    Limits { max_new_tokens, context, stop_tokens: HashSet::from_iter(stop_tokens.iter().copied()) }
}

#[test]
fn task_2_each_step_hands_on_the_prompt_and_all_new_tokens() {
    let ran = run(&[7, 8], &[3, 4, 5, 6, 10], &limits(5, 100, &[]), None);
    let all = [7, 8, 3, 4, 5, 6, 10];
    let step =
        |n: usize| [NextLogits(all[..n].to_vec()), Choose(all[..n].to_vec()), OnToken(all[n])];
    let expected =
        Ran { calls: (2..7).flat_map(step).collect(), returned: Ok(FinishReason::Length) };
    assert_answer(
        "prompt [7, 8], max_new_tokens 5, the model wants to write 3, 4, 5, 6, 10: each step calls \
         next_logits, choose and on_token once, the first two with the prompt and all new tokens",
        &ran.steps(),
        &expected.steps(),
    );
}

#[test]
fn task_2_a_long_prompt_is_handed_on_whole() {
    let prompt: Vec<u32> = (1000..1300).collect();
    let ends = |tokens: &[u32]| match tokens {
        [first, .., last] => format!("{} tokens, {first} to {last}", tokens.len()),
        few => format!("{few:?}"),
    };
    let line = |call: &Call| match call {
        NextLogits(tokens) => format!("next_logits({})", ends(tokens)),
        Choose(tokens) => format!("choose({})", ends(tokens)),
        OnToken(token) => format!("on_token({token})"),
    };
    let ran = run(&prompt, &[3, 4, 5], &limits(2, 400, &[]), None);
    let found: Vec<String> = ran.calls.iter().map(line).collect();
    let expected =
        [("300 tokens, 1000 to 1299", 3), ("301 tokens, 1000 to 3", 4)].map(|(tokens, next)| {
            [
                format!("next_logits({tokens})"),
                format!("choose({tokens})"),
                format!("on_token({next})"),
            ]
        });
    let (found, expected) = (Lines(found), Lines(expected.concat()));
    // Without diagnosis: many mistakes end as early as this.
    assert!(
        found == expected,
        "a prompt of the 300 tokens 1000 to 1299, a context of 400, max_new_tokens 2: nothing of \
         it is left out\n  found{found:?}\n  expected{expected:?}"
    );
}

#[test]
fn task_2_no_limit_is_too_large() {
    let cases = [(usize::MAX, 6), (usize::MAX - 1, 6), (2, usize::MAX)];
    let input = |(n, context)| {
        let size = |n: usize| match usize::MAX - n {
            0 => "the largest usize".to_owned(),
            1 => "the largest usize but one".to_owned(),
            _ => n.to_string(),
        };
        format!("max_new_tokens {}, a context of {}", size(n), size(context))
    };
    let found = cases.map(|(n, context)| {
        run(&[7, 7, 7], &[1, 2, 3], &limits(n, context, &[]), None).line(&input((n, context)))
    });
    let full = |case| line(&input(case), &[1, 2, 3], 3, "ContextFull");
    assert_answer(
        "a prompt of 3 and a limit so large that prompt and limit cannot be added: whoever wants \
         no limit says so",
        &Lines(found.into()),
        &Lines(vec![full(cases[0]), full(cases[1]), line(&input(cases[2]), &[1, 2], 2, "Length")]),
    );
}

#[test]
fn task_2_max_new_tokens_is_how_many_are_written() {
    let input = |n| format!("max_new_tokens {n}");
    let found = [0, 1, 2, 5]
        .map(|n| run(&[7, 7, 7], &[1, 2, 3, 4, 5, 6], &limits(n, 20, &[]), None).line(&input(n)));
    let expected = [0, 1, 2, 5].map(|n| line(&input(n), &[1, 2, 3, 4, 5][..n], n, "Length"));
    assert_answer(
        "a prompt of 3 tokens, a context of 20: max_new_tokens is how many tokens are written, and \
         how often the model runs",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_a_stop_token_ends_the_text_and_is_no_part_of_it() {
    let (third, first, full) = (
        "max_new_tokens 6, the model wants to write 3, 4, 9, 5",
        "max_new_tokens 6, the model wants to write 9, 5, 5",
        "max_new_tokens 3, the model wants to write 3, 4, 9, 5",
    );
    let text =
        |n, script: &[u32], input| run(&[7, 7], script, &limits(n, 100, &[9]), None).line(input);
    assert_answer(
        "stop token 9: it ends the text and is no part of it, so on_token never gets it and \
         nothing runs after it",
        &Lines(vec![
            text(6, &[3, 4, 9, 5], third),
            text(6, &[9, 5, 5], first),
            text(3, &[3, 4, 9, 5], full),
        ]),
        &Lines(vec![
            line(third, &[3, 4], 3, "Stop"),
            line(first, &[], 1, "Stop"),
            line(full, &[3, 4], 3, "Stop"),
        ]),
    );
}

#[test]
fn task_2_each_of_several_stop_tokens_stops() {
    let cases = [(4, 0), (4, 11), (2, 0), (2, 11)];
    let input = |(n, stop)| format!("max_new_tokens {n}, the model wants to write 5, {stop}, 6");
    let found = cases.map(|(n, stop)| {
        run(&[7; 3], &[5, stop, 6], &limits(n, 100, &[0, 11]), None).line(&input((n, stop)))
    });
    let expected = cases.map(|case| line(&input(case), &[5], 2, "Stop"));
    assert_answer(
        "a prompt of 3, stop tokens 0 and 11: each of the set ends the text",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_a_stop_token_counts_only_where_the_model_writes_it() {
    let input = "prompt [9, 1, 9], the model wants to write 3, 4, 5, 6, 10";
    let written = [3, 4, 5, 6, 10];
    assert_answer(
        "stop token 9, max_new_tokens 5: in the prompt it means nothing, for a chat's prompt holds \
         those of earlier turns",
        &Lines(vec![run(&[9, 1, 9], &written, &limits(5, 100, &[9]), None).line(input)]),
        &Lines(vec![line(input, &written, 5, "Length")]),
    );
}

#[test]
fn task_2_a_limit_counts_only_once_it_is_reached() {
    let input = |n| format!("max_new_tokens {n}");
    let found = [5, 3, 2, 1]
        .map(|n| run(&[7, 7, 7], &[3, 4, 9, 5], &limits(n, 20, &[9]), None).line(&input(n)));
    let stopped = |n| line(&input(n), &[3, 4], 3, "Stop");
    assert_answer(
        "the model wants to write 3, 4, the stop token 9 and 5: with room for a third token it is \
         chosen and is the reason, but once a limit is reached the model does not run, so nobody \
         knows what it would have written",
        &Lines(found.into()),
        &Lines(vec![
            stopped(5),
            stopped(3),
            line(&input(2), &[3, 4], 2, "Length"),
            line(&input(1), &[3], 1, "Length"),
        ]),
    );
}

#[test]
fn task_2_the_context_holds_prompt_and_new_tokens() {
    let cases = [(3, 5), (3, 4), (1, 2)];
    let input = |(prompt, context)| format!("a prompt of {prompt}, a context of {context}");
    let found = cases.map(|(prompt, context)| {
        run(&vec![7; prompt], &[1, 2, 3], &limits(7, context, &[]), None)
            .line(&input((prompt, context)))
    });
    let expected = cases
        .map(|case| line(&input(case), &[1, 2][..case.1 - case.0], case.1 - case.0, "ContextFull"));
    assert_answer(
        "max_new_tokens 7: prompt and new tokens together fill the context exactly, then nothing \
         runs and the reason is ContextFull",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_a_prompt_that_fills_the_context_fits() {
    let input = |prompt| format!("a prompt of {prompt}");
    let found = [3, 2].map(|prompt| {
        run(&vec![7; prompt], &[1, 2], &limits(7, 3, &[]), None).line(&input(prompt))
    });
    assert_answer(
        "a context of 3, max_new_tokens 7: a prompt as long as the context is no error, and \
         neither is one with less room than max_new_tokens",
        &Lines(found.into()),
        &Lines(vec![
            line(&input(3), &[], 0, "ContextFull"),
            line(&input(2), &[1], 1, "ContextFull"),
        ]),
    );
}

#[test]
fn task_2_of_two_limits_max_new_tokens_is_looked_at_first() {
    let cases = [(1, 4), (2, 5), (1, 20)];
    let input = |(n, context)| format!("max_new_tokens {n}, a context of {context}");
    let found = cases.map(|(n, context)| {
        run(&[7, 7, 7], &[1, 2, 3], &limits(n, context, &[]), None).line(&input((n, context)))
    });
    let expected = cases.map(|case| line(&input(case), &[1, 2][..case.0], case.0, "Length"));
    assert_answer(
        "a prompt of 3: where max_new_tokens is reached the reason is Length, even if the context \
         is full as well",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_a_prompt_longer_than_the_context_is_an_error() {
    // Even if nothing was to be written.
    let input = |n| format!("a prompt of 13, a context of 12, max_new_tokens {n}");
    let found = [5, 0].map(|n| run(&[7; 13], &[1], &limits(n, 12, &[]), None).line(&input(n)));
    let expected = [5, 0].map(|n| line(&input(n), &[], 0, "an error"));
    assert_answer(
        "a prompt longer than the context is an error, and the model does not run",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
    let message = run(&[7; 13], &[1], &limits(5, 12, &[]), None)
        .returned
        .expect_err("an error, as above")
        .to_string();
    assert!(
        message.contains("13") && message.contains("12"),
        "a prompt of 13, a context of 12: the error names both lengths\n  found    {message:?}\n  \
         expected a text with 13 and 12 in it"
    );
}

#[test]
fn task_2_an_empty_prompt_is_an_error() {
    let input = |n| format!("an empty prompt, max_new_tokens {n}");
    let found = [0, 3].map(|n| run(&[], &[1, 2, 3], &limits(n, 12, &[]), None).line(&input(n)));
    let expected = [0, 3].map(|n| line(&input(n), &[], 0, "an error"));
    assert_answer(
        "an empty prompt is an error: there is no position whose logits could be read",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

/// What `generate` hands on if every token it writes is chosen from `script`, and why it ends.
fn written(prompt: &[u32], script: &[u32], limits: &Limits) -> (Vec<u32>, FinishReason) {
    let (mut wants, mut found) = (script.iter(), Vec::new());
    let returned = generate(
        |_| vec![0.0; 2],
        prompt,
        limits,
        |_, _| *wants.next().expect("no more tokens are chosen than the limits allow"),
        |token| {
            found.push(token);
            ControlFlow::Continue(())
        },
    );
    (found, returned.expect("the prompt fits"))
}

#[test]
fn task_2_whatever_the_model_writes() {
    let repeated = [[5; 100].as_slice(), [[6, 7, 8, 9]; 60].as_flattened()].concat();
    let found = written(&[7; 3], &repeated, &limits(repeated.len(), 1000, &[]));
    assert!(
        found == (repeated.clone(), FinishReason::Length),
        "the model writes 5 a hundred times, then 6, 7, 8, 9 sixty times, without stop tokens, and max_new_tokens is 340: on_token got {} tokens, returned {:?}\n  tokens may repeat, and only max_new_tokens, the context and stop tokens end a text",
        found.0.len(),
        found.1
    );
    let found = written(&[7, 4, 7], &[3, 4, 5], &limits(3, 100, &[4]));
    assert!(
        found == (vec![3], FinishReason::Stop),
        "the model writes 3 and 4, and 4 is a stop token that stands in the prompt too: on_token got {:?}, returned {:?}, expected [3] and Stop",
        found.0,
        found.1
    );
}

#[test]
fn task_2_on_token_can_end_it() {
    let cases = [(6, 100), (2, 100), (6, 5)];
    let input = |(n, context)| format!("max_new_tokens {n}, a context of {context}");
    let found = cases.map(|(n, context)| {
        run(&[7, 7, 7], &[3, 4, 5], &limits(n, context, &[]), Some(4)).line(&input((n, context)))
    });
    let expected = cases.map(|case| line(&input(case), &[3, 4], 2, "Interrupted"));
    assert_answer(
        "a prompt of 3, the model wants to write 3, 4, 5 and on_token says break at 4: that ends \
         it, even if 4 also reaches a limit",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_the_embedded_model_writes_what_transformers_writes() {
    // Before the model is loaded.
    assert!(
        run(&[7], &[], &limits(0, 9, &[]), None).returned.is_ok(),
        "max_new_tokens 0 is no error"
    );
    let model = load_model(&embedded_model()).expect("the embedded model");
    let fixtures = fixtures();
    for name in fixtures.cases("task_2_greedy/") {
        let case = fixtures.case(&name);
        let (prompt, expected) = (ids(&case, "prompt"), ids(&case, "new"));
        let stop: Vec<u32> = case
            .value("stop")
            .as_array()
            .expect("a list")
            .iter()
            .map(|id| id.as_u64().expect("an id") as u32)
            .collect();
        let limits = limits(case.count("max_new_tokens"), model.config.max_positions, &stop);
        let (mut new, mut passes) = (Vec::new(), 0);
        let reason = generate(
            |tokens| {
                passes += 1;
                assert!(
                    passes <= limits.max_new_tokens,
                    "{name}: the model ran {passes} times for {} tokens",
                    limits.max_new_tokens
                );
                next_token_logits(&model, tokens)
            },
            &prompt,
            &limits,
            |logits, _| argmax(logits),
            |token| {
                new.push(token);
                ControlFlow::Continue(())
            },
        )
        .expect("the prompt fits");
        let text = case.value("text");
        assert!(
            new == expected,
            "{name}: transformers continues the prompt with {text}\n  found    {new:?}\n  expected \
             {expected:?}"
        );
        let ended = if case.value("stopped").as_bool().expect("yes or no") {
            FinishReason::Stop
        } else {
            FinishReason::Length
        };
        assert!(
            reason == ended,
            "{name}: the tokens are right; why it ended is not\n  found    {reason:?}\n  expected \
             {ended:?}"
        );
    }
}

/// One example of the fixture: its name, its bytes, its text, and the text that is certain after
/// each number of bytes.
fn examples() -> Vec<(String, Vec<u8>, String, Vec<String>)> {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_stream/bytes");
    let text = |value: &str| value.to_owned();
    let examples = case.value("examples").as_array().expect("a list");
    examples
        .iter()
        .map(|e| {
            let bytes = e["bytes"]
                .as_array()
                .expect("bytes")
                .iter()
                .map(|b| b.as_u64().expect("a byte") as u8)
                .collect();
            let certain = e["certain"]
                .as_array()
                .expect("texts")
                .iter()
                .map(|t| text(t.as_str().expect("a text")))
                .collect();
            (
                text(e["name"].as_str().expect("a name")),
                bytes,
                text(e["text"].as_str().expect("a text")),
                certain,
            )
        })
        .collect()
}

/// All ways to cut `n` bytes into pieces if there are few of them, else all ways with at most two
/// cuts; as sorted lists of cuts.
fn ways_to_cut(n: usize) -> Vec<Vec<usize>> {
    if n <= 11 {
        (0..1u32 << (n - 1))
            .map(|cuts| (1..n).filter(|i| cuts >> (i - 1) & 1 == 1).collect())
            .collect()
    } else {
        (1..n)
            .flat_map(|i| (i..n).map(move |j| if i == j { vec![i] } else { vec![i, j] }))
            .chain([vec![], (1..n).collect()])
            .collect()
    }
}

/// What each push of these bytes returned, and at the end `finish`. In a thread of its own, for a
/// push may never return.
fn pieces<'a>(pushes: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let pushes: Vec<Vec<u8>> = pushes.into_iter().map(<[u8]>::to_vec).collect();
    let input = format!("{pushes:02X?}");
    let (sender, receiver) = mpsc::channel();
    let work = thread::spawn(move || {
        let mut stream = TextStream::default();
        let mut pieces: Vec<String> = pushes.iter().map(|bytes| stream.push(bytes)).collect();
        pieces.push(stream.finish());
        // Nobody listens any more if this took too long.
        let _ = sender.send(pieces);
    });
    match receiver.recv_timeout(Duration::from_secs(5)) {
        Ok(pieces) => pieces,
        Err(RecvTimeoutError::Timeout) => {
            panic!(
                "push {input}, then finish: one of them does not return\n  each round of a loop \
                 must take bytes out of `pending`, or leave it"
            )
        }
        // It panicked, and its message has been printed.
        Err(RecvTimeoutError::Disconnected) => {
            panic::resume_unwind(work.join().expect_err("it sends unless it panics"))
        }
    }
}

/// Compares the pieces; the last expected one is what `finish` returns.
fn check_pieces(property: &str, pushes: &[&[u8]], expected: &[&str]) {
    let found = pieces(pushes.iter().copied());
    let what = format!("{property}: push {pushes:02X?}, then finish");
    assert_answer(&what, &found, &expected.iter().map(|&piece| piece.to_owned()).collect());
}

#[test]
fn task_3_letters_are_not_held_back() {
    let found = pieces(["Once", " upon", "", " a", "\n", " time "].map(str::as_bytes));
    let expected = ["Once", " upon", "", " a", "\n", " time ", ""].map(str::to_owned);
    assert_answer(
        "push \"Once\", \" upon\", \"\", \" a\", \"\\n\", \" time \", then finish: what is whole \
         comes at once and as it is",
        &found,
        &expected.into(),
    );
}

#[test]
fn task_3_every_character_counts() {
    let text = "\u{feff}a\0b\r\n\t\u{7f}\u{200b}\u{fffd}\u{feff}";
    let found = pieces([text.as_bytes()]);
    // Without diagnosis: many mistakes do nothing to a text that comes at once.
    assert!(
        found == [text, ""],
        "push {text:?} at once, then finish: a byte order mark, a zero, line ends and other signs \
         that are not seen are text too\n  found    {found:?}"
    );
}

#[test]
fn task_3_a_character_comes_whole() {
    let found = pieces("a😀é".as_bytes().chunks(1));
    let expected = ["a", "", "", "", "😀", "", "é", ""].map(str::to_owned);
    assert_answer(
        "push the bytes of \"a😀é\" one by one, then finish: nothing until a character is complete, \
         then the character",
        &found,
        &expected.into(),
    );
}

#[test]
fn task_3_only_the_unfinished_character_waits() {
    check_pieces(
        "what stands before an unfinished character does not wait for it",
        &[b"ab\xF0\x9F", b"\x98\x80c\xC3", b"\xA9"],
        &["ab", "😀c", "é", ""],
    );
    check_pieces(
        "a token without bytes leaves what is held back",
        &[b"\xC3", b"", b"\xA9"],
        &["", "", "é", ""],
    );
}

#[test]
fn task_3_bytes_that_cannot_become_a_character_become_u_fffd_at_once() {
    check_pieces(
        "80 begins no character, so it is U+FFFD as soon as it comes, and what follows is text",
        &[b"a\x80b", b"c"],
        &["a\u{fffd}b", "c", ""],
    );
    check_pieces(
        "C0 and FF begin no character",
        &[b"\xC0", b"\xFF"],
        &["\u{fffd}", "\u{fffd}", ""],
    );
    check_pieces(
        "E2 82 waits for a third byte; with a letter behind it, it is one broken place and gives \
         one U+FFFD",
        &[b"\xE2\x82", b"A"],
        &["", "\u{fffd}A", ""],
    );
}

#[test]
fn task_3_what_is_held_back_at_the_end_becomes_one_replacement_character() {
    let bytes = |held: usize| &"ab😀".as_bytes()[..2 + held];
    let line = |held, pushed, end, again| {
        format!(
            "pushes of {:02X?} = {pushed:?}, finish = {end:?}, finish again = {again:?}",
            bytes(held)
        )
    };
    let found = [0, 1, 2, 3].map(|held| {
        let mut stream = TextStream::default();
        let pushed: String = bytes(held).chunks(1).map(|byte| stream.push(byte)).collect();
        line(held, pushed, stream.finish(), stream.finish())
    });
    let expected = [(0, ""), (1, "\u{fffd}"), (2, "\u{fffd}"), (3, "\u{fffd}")]
        .map(|(held, end)| line(held, "ab".into(), end.into(), "".into()));
    assert_answer(
        "byte by byte, and the end comes after none, one, two, three of the four bytes of an \
         emoji: what was held back becomes one U+FFFD, once",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_3_the_pieces_make_up_the_text_however_it_is_cut() {
    for (name, bytes, text, certain) in examples() {
        // Whether it returns at all.
        pieces([&bytes[..]]);
        for cuts in ways_to_cut(bytes.len()) {
            let mut stream = TextStream::default();
            let (mut found, mut from) = (String::new(), 0);
            let input =
                format!("{name}, {bytes:02X?} in pieces that end at {cuts:?} and at the end");
            for to in cuts.iter().copied().chain([bytes.len()]) {
                found += &stream.push(&bytes[from..to]);
                let expected = &certain[to];
                assert!(
                    found == *expected,
                    "{input}: after {to} bytes all text that is certain has come, and no more\n  \
                     found    {found:?}\n  expected {expected:?}"
                );
                from = to;
            }
            found += &stream.finish();
            assert!(
                found == text,
                "{input}: all pieces and finish make up String::from_utf8_lossy of the whole\n  \
                 found    {found:?}\n  expected {text:?}"
            );
        }
    }
}

#[test]
fn task_3_whatever_the_length() {
    let text = "a\u{ffff}b\u{0}ü😀 ".repeat(100);
    let found = pieces([text.as_bytes()]);
    assert!(
        found == [text.as_str(), ""],
        "push of {} bytes of whole characters, among them U+FFFF and U+0000, then finish: found {} and {} bytes, expected all and none\n  every character is text, and a push has no limit",
        text.len(),
        found[0].len(),
        found[1].len()
    );
}

#[test]
fn task_3_tokens_of_the_embedded_model_become_text() {
    let mut stream = TextStream::default();
    let mut found = stream.push(b"");
    let fixtures = fixtures();
    let case = fixtures.case("task_3_stream/tokens");
    let tokenizer =
        Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    for id in ids(&case, "ids") {
        let bytes = tokenizer.token_bytes(id);
        let piece = stream.push(&bytes);
        assert!(
            !piece.contains('\u{fffd}'),
            "after {found:?} token {id}, {bytes:02X?}, gave {piece:?}: half a character has to \
             wait for its other half"
        );
        found += &piece;
    }
    found += &stream.finish();
    let text = case.value("text").as_str().expect("a text");
    assert!(
        found == text,
        "the tokens' pieces make up the text that was tokenized\n  found    {found:?}\n  expected \
         {text:?}"
    );
}

/// One chat of the fixture: its messages, and its text without and with the beginning of an answer.
fn chats(case: &Case) -> Vec<(Vec<Message>, String, String)> {
    let text = |value: &str| value.to_owned();
    let chats = case.value("chats").as_array().expect("a list");
    chats
        .iter()
        .map(|chat| {
            let messages = chat["messages"].as_array().expect("messages").iter();
            let messages = messages.map(|m| {
                Message::new(
                    m["role"].as_str().expect("a role"),
                    m["content"].as_str().expect("a content"),
                )
            });
            (
                messages.collect(),
                text(chat["text"].as_str().expect("a text")),
                text(chat["prompt"].as_str().expect("a text")),
            )
        })
        .collect()
}

#[test]
fn task_4_chatml_by_hand() {
    let messages = [Message::new("system", "Be brief."), Message::new("user", "Hi\nthere")];
    let text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi\nthere<|im_end|>\n"
        .to_owned();
    let prompt = format!("{text}<|im_start|>assistant\n");
    let chat = "system \"Be brief.\", user \"Hi\\nthere\"";
    assert_answer(
        &format!("{chat}, without a generation prompt: the messages and nothing else"),
        &chatml(&messages, false),
        &text,
    );
    assert_answer(
        &format!("{chat}, with a generation prompt: the assistant's turn is open"),
        &chatml(&messages, true),
        &prompt,
    );
}

#[test]
fn task_4_messages_stay_in_their_order() {
    let messages = [
        ("user", "Hi."),
        ("system", "Be brief."),
        ("user", "One?"),
        ("user", "Two?"),
        ("tool", "2\r\n\n\t"),
        ("system", " Stop. "),
    ];
    let text: String = messages
        .iter()
        .map(|(role, content)| format!("<|im_start|>{role}\n{content}<|im_end|>\n"))
        .collect();
    assert_answer(
        "six messages, system messages between others, two of one role in succession, and a role \
         of another name: each as it is, where it stands",
        &chatml(&messages.map(|(role, content)| Message::new(role, content)), false),
        &text,
    );
}

#[test]
fn task_4_chatml_is_what_the_template_gives() {
    for (messages, text, prompt) in chats(&fixtures().case("task_4_chat/messages")) {
        let chat: Vec<String> = messages
            .iter()
            .map(|Message { role, content }| format!("{role} {content:?}"))
            .collect();
        let chat = if chat.is_empty() { "no messages".to_owned() } else { chat.join(", ") };
        assert_answer(
            &format!("{chat}, without a generation prompt"),
            &chatml(&messages, false),
            &text,
        );
        assert_answer(
            &format!("{chat}, with a generation prompt"),
            &chatml(&messages, true),
            &prompt,
        );
    }
}

#[test]
fn task_4_whatever_the_messages_hold() {
    let roles = ["user", "Assistant", "TOOL", "Übersetzer"];
    let contents = ["<|im_start|>system", "a<|im_end|>\nb", "", " {role} %s", "<|endoftext|>"];
    let messages: Vec<_> = (0..40).map(|i| Message::new(roles[i % 4], contents[i % 5])).collect();
    let expected: String = (0..40)
        .map(|i| format!("<|im_start|>{}\n{}<|im_end|>\n", roles[i % 4], contents[i % 5]))
        .collect();
    let found = chatml(&messages, false);
    let first = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "forty messages with the roles {roles:?} and the contents {contents:?}: the first line that differs is {first:?} (yours, then the expected one), of {} and {} lines\n  role and content are copied as they are, whatever they hold",
        found.lines().count(),
        expected.lines().count()
    );
}

#[test]
fn task_4_each_mark_becomes_one_token() {
    let fixtures = fixtures();
    let (messages, ..) = chats(&fixtures.case("task_4_chat/messages")).swap_remove(2);
    let text = chatml(&messages, true);
    let tokenizer =
        Tokenizer::from_folder(&embedded_model()).expect("the embedded model's tokenizer");
    let (found, expected) = (
        tokenizer.encode(&text).expect("any text has tokens"),
        ids(&fixtures.case("task_4_chat/tokens"), "ids"),
    );
    assert!(
        found == expected,
        "the tokens of {text:?}: each <|im_start|> is token 1, each <|im_end|> token 2, and \
         nothing stands before the first\n  found    {found:?}\n  expected {expected:?}"
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day6.rs"]
mod fresh;
