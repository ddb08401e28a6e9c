//! Week 1, day 6, task 2: stop tokens and length.

#[path = "task_2_ends.rs"]
mod ends;

use std::{cell::RefCell, fmt, ops::ControlFlow};

use tiny_llm::week1::{
    generate::{FinishReason, Limits, argmax, generate, next_token_logits},
    weights::load_model,
};
use tiny_llm_harness::{check::assert_answer, panics};

use super::{Lines, embedded_model, fixtures, limits, line, written};

/// A call by `generate` to one of its callbacks.
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

/// The calls and the result of a finished generation.
struct Ran {
    /// All calls, in order.
    calls: Vec<Call>,
    returned: anyhow::Result<FinishReason>,
}

impl Ran {
    /// Returns one line with the results that the caller of `generate` sees.
    fn line(&self, input: &str) -> String {
        let written: Vec<u32> = self
            .calls
            .iter()
            .filter_map(|call| if let OnToken(token) = call { Some(*token) } else { None })
            .collect();
        let passes = self.calls.iter().filter(|call| matches!(call, NextLogits(_))).count();
        line(input, &written, passes, &self.reason())
    }

    /// Returns a line for each run of the model with the calls after it, and a line for the result.
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

/// An upper bound on the calls in any of these generations. More calls mean an endless loop.
const ENOUGH: usize = 100;

/// Runs `generate` with a model that writes the tokens of `script`, and then 0 forever. `on_token`
/// returns `Break` at the token `interrupt`.
fn run(prompt: &[u32], script: &[u32], limits: &Limits, interrupt: Option<u32>) -> Ran {
    let calls = RefCell::new(Vec::new());
    let call = |call| {
        calls.borrow_mut().push(call);
        let n = calls.borrow().len();
        assert!(
            n < ENOUGH,
            "the generation does not end: generate made {n} calls to next_logits, choose and \
             on_token, with the prompt {prompt:?}, max_new_tokens {}, a context of {} and the stop \
             tokens {:?}",
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
                    "generate must pass to choose the logits that next_logits returned\n  found    \
                     {logits:?}\n  expected {last:?}"
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

#[test]
fn task_2_each_step_passes_the_prompt_and_all_new_tokens() {
    let ran = run(&[7, 8], &[3, 4, 5, 6, 10], &limits(5, 100, &[]), None);
    let all = [7, 8, 3, 4, 5, 6, 10];
    let step =
        |n: usize| [NextLogits(all[..n].to_vec()), Choose(all[..n].to_vec()), OnToken(all[n])];
    let expected =
        Ran { calls: (2..7).flat_map(step).collect(), returned: Ok(FinishReason::Length) };
    assert_answer(
        "prompt [7, 8], max_new_tokens 5, the model writes 3, 4, 5, 6, 10: each step must call \
         next_logits and choose with the prompt and all new tokens, then on_token with the next \
         token",
        &ran.steps(),
        &expected.steps(),
    );
}

#[test]
fn task_2_long_prompt_is_passed_in_full() {
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
    // Without diagnosis: many mistakes fail this early.
    assert!(
        found == expected,
        "a prompt of 300 tokens (1000 to 1299), a context of 400, max_new_tokens 2: pass on the \
         whole prompt\n  found{found:?}\n  expected{expected:?}"
    );
}

#[test]
fn task_2_limits_near_usize_max_do_not_overflow() {
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
        "a prompt of 3 tokens with a limit near usize::MAX, which means no limit: adding the \
         prompt to it would overflow",
        &Lines(found.into()),
        &Lines(vec![full(cases[0]), full(cases[1]), line(&input(cases[2]), &[1, 2], 2, "Length")]),
    );
}

#[test]
fn task_2_generates_exactly_max_new_tokens() {
    let input = |n| format!("max_new_tokens {n}");
    let found = [0, 1, 2, 5]
        .map(|n| run(&[7, 7, 7], &[1, 2, 3, 4, 5, 6], &limits(n, 20, &[]), None).line(&input(n)));
    let expected = [0, 1, 2, 5].map(|n| line(&input(n), &[1, 2, 3, 4, 5][..n], n, "Length"));
    assert_answer(
        "a prompt of 3 tokens, a context of 20: the model must run max_new_tokens times, and \
         on_token must get one token each time",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_stop_token_ends_generation_and_is_not_emitted() {
    let (third, first, full) = (
        "max_new_tokens 6, the model writes 3, 4, 9, 5",
        "max_new_tokens 6, the model writes 9, 5, 5",
        "max_new_tokens 3, the model writes 3, 4, 9, 5",
    );
    let text =
        |n, script: &[u32], input| run(&[7, 7], script, &limits(n, 100, &[9]), None).line(input);
    assert_answer(
        "stop token 9: it ends the text but is not part of it, so don't pass it to on_token, and \
         don't run the model again",
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
fn task_2_each_of_several_stop_tokens_ends_generation() {
    let cases = [(4, 0), (4, 11), (2, 0), (2, 11)];
    let input = |(n, stop)| format!("max_new_tokens {n}, the model writes 5, {stop}, 6");
    let found = cases.map(|(n, stop)| {
        run(&[7; 3], &[5, stop, 6], &limits(n, 100, &[0, 11]), None).line(&input((n, stop)))
    });
    let expected = cases.map(|case| line(&input(case), &[5], 2, "Stop"));
    assert_answer(
        "a prompt of 3 tokens, stop tokens 0 and 11: each of them ends the text",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_stop_tokens_in_the_prompt_are_ignored() {
    let input = "prompt [9, 1, 9], the model writes 3, 4, 5, 6, 10";
    let written = [3, 4, 5, 6, 10];
    assert_answer(
        "stop token 9, max_new_tokens 5: ignore it in the prompt, because a chat's prompt contains \
         the stop tokens of earlier turns",
        &Lines(vec![run(&[9, 1, 9], &written, &limits(5, 100, &[9]), None).line(input)]),
        &Lines(vec![line(input, &written, 5, "Length")]),
    );
}

#[test]
fn task_2_reason_is_stop_unless_limit_is_reached_first() {
    let input = |n| format!("max_new_tokens {n}");
    let found = [5, 3, 2, 1]
        .map(|n| run(&[7, 7, 7], &[3, 4, 9, 5], &limits(n, 20, &[9]), None).line(&input(n)));
    let stopped = |n| line(&input(n), &[3, 4], 3, "Stop");
    assert_answer(
        "the model writes 3, 4, the stop token 9, 5: if a third token is allowed, the stop token \
         is chosen and the reason is Stop; if a limit is reached earlier, the model must not run \
         again",
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
fn task_2_context_limits_prompt_plus_new_tokens() {
    let cases = [(3, 5), (3, 4), (1, 2)];
    let input = |(prompt, context)| format!("a prompt of length {prompt}, a context of {context}");
    let found = cases.map(|(prompt, context)| {
        run(&vec![7; prompt], &[1, 2, 3], &limits(7, context, &[]), None)
            .line(&input((prompt, context)))
    });
    let expected = cases
        .map(|case| line(&input(case), &[1, 2][..case.1 - case.0], case.1 - case.0, "ContextFull"));
    assert_answer(
        "max_new_tokens 7: write until prompt and new tokens fill the context exactly, then return \
         ContextFull without running the model",
        &Lines(found.into()),
        &Lines(expected.into()),
    );
}

#[test]
fn task_2_accepts_prompt_that_fills_the_context() {
    let input = |prompt| format!("a prompt of {prompt}");
    let found = [3, 2].map(|prompt| {
        run(&vec![7; prompt], &[1, 2], &limits(7, 3, &[]), None).line(&input(prompt))
    });
    assert_answer(
        "a context of 3, max_new_tokens 7: a prompt that fills the context is not an error, and \
         neither is one that leaves room for fewer than max_new_tokens tokens",
        &Lines(found.into()),
        &Lines(vec![
            line(&input(3), &[], 0, "ContextFull"),
            line(&input(2), &[1], 1, "ContextFull"),
        ]),
    );
}
