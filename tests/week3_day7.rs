//! Week 3, day 7: an automaton for JSON, a tree of tokens, answers that are always complete.
//!
//! Expected values: `python-ref/oracle/week3_day7.py`, which uses Python's `json`; models:
//! `week3_day1.py`.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tiny_llm::{
    week1::{
        generate::FinishReason,
        sampling::{Rng, SamplerOptions},
    },
    week3::{
        constraint::{Constraint, Rules, Vocabulary},
        engine::Engine,
        grammar::Grammar,
        json::JsonState,
        json_grammar::Json,
        options::EngineOptions,
        request::Request,
        sampler::Sampler,
        scalar::{Number, Text},
        token_trie::TokenTrie,
        whole::{NEVER, Prices, closing_byte, fewest_tokens, mask},
    },
};
use tiny_llm_harness::{
    check::{self, Part, resting_on},
    fixtures::{Case, Fixtures, Json as Value},
};

#[path = "parts/serving.rs"]
mod serving;

use serving::{Told, model, request, run};

use task_1::{task_1_number_next_over_numbers, task_1_text_next_over_strings};
use task_2::{
    task_2_json_state_over_values, task_2_json_state_requires_an_object,
    task_2_states_with_equal_continuations_are_equal,
};
use task_3::{
    NoDoubleB, own, task_3_walk_over_small_vocabulary, task_3_walk_with_random_vocabularies,
};
use task_4::{
    task_4_closing_byte_gives_the_shortest_end, task_4_fewest_tokens_returns_the_minimum,
};

#[path = "parts/drawn.rs"]
mod drawn;
#[path = "week3_day7/edges.rs"]
mod edges;
#[path = "week3_day7/task_1.rs"]
mod task_1;
#[path = "week3_day7/task_2.rs"]
mod task_2;
#[path = "week3_day7/task_3.rs"]
mod task_3;
#[path = "week3_day7/task_4.rs"]
mod task_4;

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day7")
}

/// Returns bytes, which the fixtures store as a text of one character per byte.
fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("a text");
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a byte")).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn rows(case: &Case) -> Vec<Value> {
    case.value("rows").as_array().expect("rows").clone()
}

fn texts(value: &Value) -> Vec<Vec<u8>> {
    value.as_array().expect("a list").iter().map(bytes).collect()
}

/// One line for each input, in the form that a failing test prints.
#[derive(PartialEq, Eq)]
struct Lines(Vec<String>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// The found and the expected lines, one of each for every input.
#[derive(Default)]
struct Both {
    found: Vec<String>,
    expected: Vec<String>,
}

impl Both {
    fn push(&mut self, found: String, expected: String) {
        self.found.push(found);
        self.expected.push(expected);
    }

    /// Fails if lines differ. Prints them, and the mistake that causes them if it is known.
    #[track_caller]
    fn compare(self, what: &str) {
        check::assert_answer(what, &Lines(self.found), &Lines(self.expected));
    }

    /// Fails if lines differ. Prints only the first one that differs, because lines are long.
    #[track_caller]
    fn same(self) {
        for (found, expected) in self.found.iter().zip(&self.expected) {
            assert!(found == expected, "found    {found}\n  expected {expected}");
        }
    }
}

/// Returns a line with the number of accepted bytes of a text, and whether the text is complete.
fn line(text: &[u8], alive: usize, whole: bool) -> String {
    let whole = if whole { "whole" } else { "not whole" };
    format!("{}   {alive} of {} bytes may follow; {whole}", text.escape_ascii(), text.len())
}

/// Compares what `follow(text)` returns for each row of a case with the expected values.
fn compare(what: &str, case: &Case, follow: impl Fn(&[u8]) -> (usize, bool)) {
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for row in rows(case) {
        let text = bytes(&row[0]);
        expected.push(line(&text, number(&row[1]), row[2] == true));
        let call = format!("{what}: {}", text.escape_ascii());
        let (alive, whole) = check::assert_accepts(&call, || follow(&text));
        found.push(line(&text, alive, whole));
    }
    check::assert_answer(what, &Lines(found), &Lines(expected));
}

/// Returns the state after all accepted bytes of `text`, and their number.
fn walk<S: Copy>(start: S, text: &[u8], next: impl Fn(S, u8) -> Option<S>) -> (S, usize) {
    let (mut state, mut alive) = (start, 0);
    for &byte in text {
        let Some(after) = next(state, byte) else { break };
        (state, alive) = (after, alive + 1);
    }
    (state, alive)
}

const SCALARS: &Part = &Part {
    task: "week3-day7 task 1",
    what: "strings and numbers",
    check: || {
        task_1_text_next_over_strings();
        task_1_number_next_over_numbers();
    },
};

const AUTOMATON: &Part = &Part {
    task: "week3-day7 task 2",
    what: "the automaton",
    check: || {
        task_2_json_state_over_values();
        task_2_json_state_requires_an_object();
        task_2_states_with_equal_continuations_are_equal();
    },
};

const TREE: &Part = &Part {
    task: "week3-day7 task 3",
    what: "the tree of tokens",
    check: || {
        task_3_walk_over_small_vocabulary();
        task_3_walk_with_random_vocabularies();
    },
};

const ENDS: &Part = &Part {
    task: "week3-day7 task 4",
    what: "the way to the end",
    check: || {
        task_4_closing_byte_gives_the_shortest_end();
        task_4_fewest_tokens_returns_the_minimum();
    },
};

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day7.rs"]
mod fresh;
