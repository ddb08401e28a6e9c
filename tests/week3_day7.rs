//! Week 3, day 7: an automaton for JSON, a tree of tokens, answers that are always whole.
//!
//! Expected values: `python-ref/oracle/week3_day7.py`, whose judge is Python's `json`; models:
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
        engine::{Engine, EngineOptions},
        grammar::Grammar,
        json::JsonState,
        json_grammar::Json,
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

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day7")
}

/// Bytes, which are texts of one character each in the fixtures.
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

/// A line for each input, which is how a failing test shows them.
#[derive(PartialEq, Eq)]
struct Lines(Vec<String>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// What was found and what was expected, a line for each input.
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

    /// The lines that differ, and which mistake gives them.
    #[track_caller]
    fn compare(self, what: &str) {
        check::assert_answer(what, &Lines(self.found), &Lines(self.expected));
    }

    /// The same for lines that are long: the first that differs.
    #[track_caller]
    fn same(self) {
        for (found, expected) in self.found.iter().zip(&self.expected) {
            assert!(found == expected, "found    {found}\n  expected {expected}");
        }
    }
}

/// How far a text goes well, and whether it is whole then.
fn line(text: &[u8], alive: usize, whole: bool) -> String {
    let whole = if whole { "whole" } else { "not whole" };
    format!("{}   {alive} of {} bytes may follow; {whole}", text.escape_ascii(), text.len())
}

/// Lines of a case's rows, as expected and as `follow(text)` finds them.
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

/// The states behind each byte, as long as there is one.
fn walk<S: Copy>(start: S, text: &[u8], next: impl Fn(S, u8) -> Option<S>) -> (S, usize) {
    let (mut state, mut alive) = (start, 0);
    for &byte in text {
        let Some(after) = next(state, byte) else { break };
        (state, alive) = (after, alive + 1);
    }
    (state, alive)
}

// Task 1

fn follow_text(text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(Text::Plain, text, Text::next);
    (alive, state == Text::Closed)
}

fn follow_number(text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(Number::Start, text, Number::next);
    (alive, alive == text.len() && state.is_complete())
}

#[test]
fn task_1_strings() {
    let what = "Text::next over what stands behind a string's first quotation mark";
    compare(what, &fixtures().case("task_1_text/strings"), follow_text);
}

#[test]
fn task_1_numbers() {
    let what = "Number::next and is_complete over numbers";
    compare(what, &fixtures().case("task_1_number/numbers"), follow_number);
}

/// All bytes behind all states that some string leads to: those that may follow, counted.
#[test]
fn task_1_every_byte_everywhere() {
    let beginnings: [(&[u8], usize); 15] = [
        (b"", 0x60 + 30 + 16 + 5),
        (b"\\", 9),
        (b"\\u", 22),
        (b"\\u1", 22),
        (b"\\ud", 22 - 8),
        (b"\\ud7", 22),
        (b"\\ud8", 22),
        (b"\\ud80", 22),
        (b"\\ud800", 1),
        (b"\\ud800\\", 1),
        (b"\\ud800\\u", 2),
        (b"\\ud800\\ud", 8),
        (b"\\ud800\\udc0", 22),
        (b"\xe0", 32),
        (b"\xf4\x8f", 64),
    ];
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (text, count) in beginnings {
        let (state, _) = walk(Text::Plain, text, Text::next);
        let n = (0..=255).filter(|&byte| state.next(byte).is_some()).count();
        let line = |n| format!("behind \"{}: {n} bytes may follow", text.escape_ascii());
        found.push(line(n));
        expected.push(line(count));
    }
    let what = "of all 256 bytes, those that may follow in a string";
    check::assert_answer(what, &Lines(found), &Lines(expected));
    let dead = (0..=255).filter(|&byte| Text::Closed.next(byte).is_some()).count();
    check::assert_answer("bytes that may follow a string's last quotation mark", &dead, &0);
}

const SCALARS: &Part = &Part {
    task: "week3-day7 task 1",
    what: "strings and numbers",
    check: || {
        task_1_strings();
        task_1_numbers();
    },
};

// Task 2

fn follow(start: JsonState, text: &[u8]) -> (usize, bool) {
    let (state, alive) = walk(start, text, JsonState::next);
    (alive, alive == text.len() && state.is_complete())
}

#[test]
fn task_2_texts() {
    resting_on(&[SCALARS], || {
        let case = fixtures();
        let what = "JsonState::next and is_complete over texts";
        compare(what, &case.case("task_2_json/values"), |text| follow(JsonState::value(), text));
    });
}

#[test]
fn task_2_one_byte_changed() {
    resting_on(&[SCALARS], || {
        let fixtures = fixtures();
        for row in rows(&fixtures.case("task_2_json/mutated")) {
            let text = bytes(&row[0]);
            let call = format!("JsonState::next and is_complete over {}", text.escape_ascii());
            let (alive, whole) = check::assert_accepts(&call, || follow(JsonState::value(), &text));
            let expected = line(&text, number(&row[1]), row[2] == true);
            assert!(
                line(&text, alive, whole) == expected,
                "{call}\n  found    {}\n  expected {expected}",
                line(&text, alive, whole)
            );
        }
    });
}

#[test]
fn task_2_an_object() {
    resting_on(&[SCALARS], || {
        let case = fixtures();
        let what = "where an object is asked for, JsonState::next and is_complete over texts";
        compare(what, &case.case("task_2_json/objects"), |text| follow(JsonState::object(), text));
    });
}

#[test]
fn task_2_as_deep_as_may_be() {
    resting_on(&[SCALARS], || {
        let fixtures = fixtures();
        let case = fixtures.case("task_2_json/deep");
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for row in rows(&case) {
            let text = bytes(&row[0]);
            let opened = text.iter().filter(|byte| b"[{".contains(byte)).count();
            let line = |alive: usize, whole: bool| {
                format!(
                    "{opened} times open, as {}…: {alive} bytes may follow; whole: {whole}",
                    text[..3].escape_ascii()
                )
            };
            let (alive, whole) = follow(JsonState::value(), &text);
            found.push(line(alive, whole));
            expected.push(line(number(&row[1]), row[2] == true));
        }
        let what = "objects and arrays in each other";
        check::assert_answer(what, &Lines(found), &Lines(expected));
    });
}

/// What does not matter is not remembered: then few states need prices.
#[test]
fn task_2_equal_states() {
    resting_on(&[SCALARS], || {
        let after = |text: &str| walk(JsonState::value(), text.as_bytes(), JsonState::next).0;
        let pairs = [
            ("in a string, whatever it says", "[\"a", "[\"\u{e9} \\n and more"),
            ("behind a value, whichever", "[1 ", "[{\"a\":[]}"),
            ("in an array, after however many elements", "[[1],", "[1,2,3,\"x\","),
            ("behind a key, whichever", "{\"a\"", "{\"b\":1,\"ccc\" "),
            ("what has been closed is forgotten", "[{\"a\":{}},[", "[["),
            ("a value in an object after a value in an array", "{\"a\":", "{\"b\":[1,2],\"c\":  "),
        ];
        let mut found = Vec::new();
        for (why, one, other) in pairs {
            if after(one) != after(other) {
                found.push(format!("{why}: the states behind {one} and {other} differ"));
            }
        }
        let what = "these states must be equal, because the same bytes may follow for ever";
        assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
        for (one, other) in [("[", "{"), ("[1", "1"), ("[[1]", "[1]"), ("{\"a\":[1", "[[1")] {
            assert!(after(one) != after(other), "the states behind {one} and {other} are equal");
        }
    });
}

const AUTOMATON: &Part = &Part {
    task: "week3-day7 task 2",
    what: "the automaton",
    check: || {
        task_2_texts();
        task_2_an_object();
        task_2_equal_states();
    },
};

// Task 3

/// A language of its own for the tests of a trie: texts of `a` and `b` with no two `b` in a row, at
/// most `most` bytes long. Counts how often it is asked.
struct NoDoubleB {
    most: usize,
    asked: AtomicUsize,
}

impl NoDoubleB {
    fn new(most: usize) -> Self {
        Self { most, asked: AtomicUsize::new(0) }
    }
}

impl Grammar for NoDoubleB {
    /// Bytes so far, and whether the last was a `b`.
    type State = (usize, bool);

    fn start(&self) -> Self::State {
        (0, false)
    }

    fn next(&self, &(n, b): &Self::State, byte: u8) -> Option<Self::State> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (n < self.most && (byte == b'a' || byte == b'b' && !b)).then_some((n + 1, byte == b'b'))
    }

    fn is_complete(&self, _: &Self::State) -> bool {
        true
    }

    fn is_over(&self, &(n, _): &Self::State) -> bool {
        n == self.most
    }

    fn closing_byte(&self, _: &Self::State) -> Option<u8> {
        None
    }
}

fn own(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// All tokens that a walk finds, with the states behind them, by their ids.
fn found<G: Grammar>(trie: &TokenTrie, grammar: &G, state: &G::State) -> Vec<(u32, G::State)> {
    let mut all = Vec::new();
    trie.walk(grammar, state, &mut |token, state| all.push((token, state.clone())));
    all.sort_by_key(|(token, _)| *token);
    all
}

#[test]
fn task_3_a_small_vocabulary() {
    let texts =
        own(&["a", "b", "ab", "bb", "aba", "abb", "", "ab", "c", "ac", "abab", "bab", "ba"]);
    let call = "the tokens a, b, ab, bb, aba, abb, nothing, ab again, c, ac, abab, bab, ba";
    let trie = check::assert_accepts(call, || TokenTrie::new(&texts));
    check::assert_answer(
        &format!("{call}: nodes of the tree, its root included\n "),
        &trie.num_nodes(),
        &12,
    );
    for (why, state, expected) in [
        (
            "at the start",
            (0, false),
            vec![
                (0, (1, false)),
                (1, (1, true)),
                (2, (2, true)),
                (4, (3, false)),
                (7, (2, true)),
                (10, (4, true)),
                (11, (3, true)),
                (12, (2, false)),
            ],
        ),
        (
            "behind a b",
            (3, true),
            vec![(0, (4, false)), (2, (5, true)), (4, (6, false)), (7, (5, true)), (10, (7, true))],
        ),
        (
            "two bytes before the end",
            (8, false),
            vec![
                (0, (9, false)),
                (1, (9, true)),
                (2, (10, true)),
                (7, (10, true)),
                (12, (10, false)),
            ],
        ),
        ("at the end", (10, false), vec![]),
    ] {
        let grammar = NoDoubleB::new(10);
        let found = check::assert_accepts(why, || found(&trie, &grammar, &state));
        let what = format!("{call}; a and b alone may come, no two b in a row: {why}, walk tells");
        check::assert_answer(&what, &found, &expected);
    }
}

/// Whatever the order in which they come, texts that begin alike share nodes, and each of several
/// equal ones is told.
#[test]
fn task_3_any_vocabulary() {
    let mut rng = Rng::new(37);
    for round in 0..40 {
        let mut below = |n: u64| (rng.next_u64() % n) as usize;
        let texts: Vec<Vec<u8>> =
            (0..below(60)).map(|_| (0..below(6)).map(|_| b"aabbc"[below(5)]).collect()).collect();
        let trie = TokenTrie::new(&texts);
        let prefixes: BTreeSet<&[u8]> =
            texts.iter().flat_map(|text| (1..=text.len()).map(|n| &text[..n])).collect();
        assert_eq!(
            trie.num_nodes(),
            prefixes.len() + 1,
            "round {round}: nodes of {texts:?}, one for each beginning and the root"
        );
        let grammar = NoDoubleB::new(4);
        let good = |text: &[u8]| {
            text.len() <= 4 && !text.contains(&b'c') && !text.windows(2).any(|w| w == b"bb")
        };
        let expected: Vec<u32> = (0..)
            .zip(&texts)
            .filter(|(_, text)| !text.is_empty() && good(text))
            .map(|(token, _)| token)
            .collect();
        let tokens: Vec<u32> =
            found(&trie, &grammar, &(0, false)).into_iter().map(|(token, _)| token).collect();
        assert_eq!(tokens, expected, "round {round}: tokens that walk tells of {texts:?}");
        // Asked about a byte once behind each beginning that is good itself.
        let asked = prefixes.iter().filter(|text| good(&text[..text.len() - 1])).count();
        assert_eq!(
            grammar.asked.load(Ordering::Relaxed),
            asked,
            "round {round}: how often the grammar was asked about a byte; {texts:?} have so many \
             beginnings of which all but the last byte is possible, and each is one question"
        );
    }
}

#[test]
fn task_3_tokens_that_may_follow() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_walk/tokens");
    let vocabulary = texts(case.value("vocabulary"));
    resting_on(&[SCALARS, AUTOMATON], || {
        let trie = TokenTrie::new(&vocabulary);
        let (mut counts, mut lists) = (Both::default(), Both::default());
        for row in rows(&case) {
            let prefix = bytes(&row[0]);
            let (state, _) = walk(JsonState::value(), &prefix, JsonState::next);
            let tokens: Vec<usize> = found(&trie, &Json::Value, &state)
                .into_iter()
                .map(|(token, _)| token as usize)
                .collect();
            let right: Vec<usize> = row[1].as_array().expect("tokens").iter().map(number).collect();
            let count = |tokens: &[usize]| {
                format!("behind {}: {} tokens may follow", prefix.escape_ascii(), tokens.len())
            };
            let list = |tokens: &[usize]| {
                let texts =
                    tokens.iter().map(|&token| vocabulary[token].escape_ascii().to_string());
                let texts: Vec<String> = texts.collect();
                format!("behind {}: {}", prefix.escape_ascii(), texts.join(" | "))
            };
            counts.push(count(&tokens), count(&right));
            lists.push(list(&tokens), list(&right));
        }
        counts.compare(
            "of a vocabulary of bytes and of tokens that span several elements, or split a \
             character, an escape or a word",
        );
        lists.same();
    });
}

/// A token's text is as long as it likes.
#[test]
fn task_3_a_long_token() {
    let texts = vec![b"ab".repeat(20_000), b"ab".to_vec()];
    let grammar = NoDoubleB::new(40_000);
    let call = "a token of 40,000 bytes";
    let found =
        check::assert_accepts(call, || found(&TokenTrie::new(&texts), &grammar, &(0, false)));
    assert_eq!(found, [(0, (40_000, true)), (1, (2, true))], "{call}: the tokens that walk finds");
}

const TREE: &Part = &Part {
    task: "week3-day7 task 3",
    what: "the tree of tokens",
    check: || {
        task_3_a_small_vocabulary();
        task_3_any_vocabulary();
    },
};

// Task 4

#[test]
fn task_4_the_shortest_end() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON], || {
        for (name, grammar) in [("texts", Json::Value), ("objects", Json::Object)] {
            let case = fixtures.case(&format!("task_4_closing/{name}"));
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (mut state, _) = walk(grammar.start(), &prefix, JsonState::next);
                let line = |text: &[u8]| {
                    format!("{}   ends with {}", prefix.escape_ascii(), text.escape_ascii())
                };
                let mut text = Vec::new();
                let call = format!("closing_byte, byte by byte behind {}", prefix.escape_ascii());
                // Far longer than any end: whoever gets there goes round in a circle.
                while text.len() < 100
                    && let Some(byte) = check::assert_accepts(&call, || closing_byte(&state))
                {
                    text.push(byte);
                    let Some(next) = state.next(byte) else { break };
                    state = next;
                }
                found.push(line(&text));
                expected.push(line(&bytes(&row[1])));
            }
            let what = format!(
                "closing_byte, byte by byte: the shortest end, and of equally short ones the one \
                 with the smallest bytes; {name}"
            );
            check::assert_answer(&what, &Lines(found), &Lines(expected));
        }
    });
}

#[test]
fn task_4_the_fewest_tokens() {
    let fixtures = fixtures();
    resting_on(&[TREE], || {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for row in rows(&fixtures.case("task_4_fewest/texts")) {
            let (vocabulary, text) = (texts(&row[0]), bytes(&row[1]));
            let trie = TokenTrie::new(&vocabulary);
            let line = |n: Option<usize>| {
                let n = n.map_or_else(|| "none".to_owned(), |n| n.to_string());
                let shown: Vec<String> =
                    vocabulary.iter().map(|text| text.escape_ascii().to_string()).collect();
                format!("{} of {}: {n}", text.escape_ascii(), shown.join(" "))
            };
            let call = line(None);
            found.push(line(check::assert_accepts(&call, || fewest_tokens(&trie, &text))));
            expected.push(line(row[2].as_u64().map(|n| n as usize)));
        }
        let what = "fewest_tokens: a text, the tokens, and how many of them it takes";
        check::assert_answer(what, &Lines(found), &Lines(expected));
    });
}

/// Looking for the fewest is not trying all ways.
#[test]
fn task_4_a_long_text_is_no_work() {
    resting_on(&[TREE], || {
        let trie = TokenTrie::new(&own(&["a", "aa", "aaa", "aaaa"]));
        let found = fewest_tokens(&trie, &b"a".repeat(2002));
        assert_eq!(found, Some(501), "fewest_tokens: 2002 times a, of a, aa, aaa and aaaa");
    });
}

#[test]
fn task_4_what_a_token_costs() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        for name in ["all", "holes"] {
            let case = fixtures.case(&format!("task_4_prices/{name}"));
            let vocabulary = texts(case.value("vocabulary"));
            let trie = TokenTrie::new(&vocabulary);
            let mut prices = Prices::new(100);
            let (mut sums, mut lists) = (Both::default(), Both::default());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (state, _) = walk(JsonState::value(), &prefix, JsonState::next);
                let call = format!("Prices::of behind {}", prefix.escape_ascii());
                let found = check::assert_accepts(&call, || prices.of(&Json::Value, &trie, &state));
                assert_eq!(found.len(), vocabulary.len(), "{call}: prices of the vocabulary");
                let right = row[1].as_array().expect("prices").iter();
                let right: Vec<u16> = right.map(|price| number(price) as u16).collect();
                let sum = |prices: &[u16]| {
                    let known = || prices.iter().filter(|p| **p != NEVER).map(|p| u64::from(*p));
                    let (n, sum) = (known().count(), known().sum::<u64>());
                    format!("behind {}: {n} may follow; {sum}", prefix.escape_ascii())
                };
                let list = |prices: &[u16]| {
                    let tokens = prices.iter().zip(&vocabulary).filter(|(p, _)| **p != NEVER);
                    let tokens: Vec<String> =
                        tokens.map(|(p, text)| format!("{} {p}", text.escape_ascii())).collect();
                    format!("behind {}: {}", prefix.escape_ascii(), tokens.join(" | "))
                };
                sums.push(sum(&found), sum(&right));
                lists.push(list(&found), list(&right));
            }
            sums.compare(&format!(
                "Prices::of: how many tokens may follow, and their prices all together; \
                 vocabulary {name}"
            ));
            lists.same();
        }
    });
}

const ENDS: &Part = &Part {
    task: "week3-day7 task 4",
    what: "the way to the end",
    check: || {
        task_4_the_shortest_end();
        task_4_the_fewest_tokens();
    },
};

#[test]
fn task_4_prices_are_kept() {
    let texts = own(&["a", "b", "ab", "ba", "aab"]);
    resting_on(&[TREE], || {
        let trie = TokenTrie::new(&texts);
        let grammar = NoDoubleB::new(10);
        let mut prices = Prices::new(2);
        let mut log = Vec::new();
        let again =
            [(0, false), (0, false), (0, true), (0, false), (1, true), (1, true), (0, true)];
        for state in again.into_iter().chain([(2, false), (3, false)]) {
            let before = grammar.asked.load(Ordering::Relaxed);
            let of = prices.of(&grammar, &trie, &state);
            let asked = grammar.asked.load(Ordering::Relaxed) > before;
            let fresh = Prices::new(2).of(&grammar, &trie, &state);
            assert_eq!(of, fresh, "prices in the state {state:?}, kept and computed anew");
            log.push(format!("{state:?}: computed {asked}, then {} kept", prices.len()));
        }
        let expected = [
            "(0, false): computed true, then 1 kept",
            "(0, false): computed false, then 1 kept",
            "(0, true): computed true, then 2 kept",
            "(0, false): computed false, then 2 kept",
            "(1, true): computed true, then 1 kept",
            "(1, true): computed false, then 1 kept",
            "(0, true): computed true, then 2 kept",
            "(2, false): computed true, then 1 kept",
            "(3, false): computed true, then 2 kept",
        ];
        check::assert_answer(
            "Prices::new(2), asked for one state after the other: whether the grammar is asked, \
             and how many states are known",
            &Lines(log),
            &Lines(expected.map(str::to_owned).to_vec()),
        );
    });
}

#[test]
fn task_4_what_the_mask_leaves() {
    const N: u16 = NEVER;
    let prices = [N, 0, 1, 2, 3, N, 0, N];
    let logits: Vec<f32> = (1..=8).map(|x| x as f32 * 0.5 - 2.25).collect();
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (left, stop, complete, right) in [
        (1, &[0][..], false, &[1, 6][..]),
        (1, &[0], true, &[0, 1, 6]),
        (2, &[0], false, &[1, 2, 6]),
        (3, &[0], false, &[1, 2, 3, 6]),
        (4, &[0], true, &[0, 1, 2, 3, 4, 6]),
        (5, &[], false, &[1, 2, 3, 4, 6]),
        (5, &[], true, &[1, 2, 3, 4, 6]),
        (100_000, &[0, 7], false, &[1, 2, 3, 4, 6]),
        (usize::MAX, &[0, 7], true, &[0, 1, 2, 3, 4, 6, 7]),
        // A token that is text, too, for the grammar: it ends the answer all the same.
        (3, &[1], false, &[2, 3, 6]),
        (3, &[1, 4], true, &[1, 2, 3, 4, 6]),
        (3, &[5, 5], true, &[1, 2, 3, 5, 6]),
    ] {
        let mut masked = logits.clone();
        let call = format!("left {left}, stop tokens {stop:?}, complete {complete}");
        check::assert_accepts(&call, || mask(&mut masked, &prices, left, stop, complete));
        let line = |logits: &[f32]| format!("{call}: {logits:?}");
        found.push(line(&masked));
        let allowed = |i: usize| right.contains(&i);
        let right: Vec<f32> =
            (0..8).map(|i| if allowed(i) { logits[i] } else { f32::NEG_INFINITY }).collect();
        expected.push(line(&right));
    }
    let what = "mask, with prices [never, 0, 1, 2, 3, never, 0, never]: the logits";
    check::assert_answer(what, &Lines(found), &Lines(expected));
    check::assert_panics("8 logits and 7 prices", || {
        mask(&mut logits.clone(), &prices[..7], 3, &[], true);
    });
}

/// A model that says anything: logits of no meaning, some of them very large.
fn random_logits(rng: &mut Rng, vocabulary: usize) -> Vec<f32> {
    let like: Vec<f32> = (0..vocabulary).map(|_| (rng.uniform() * 20.0 - 10.0) as f32).collect();
    let scale = [1.0, 1e-3, 1e30][(rng.next_u64() % 3) as usize];
    like.into_iter().map(|x| x * scale).collect()
}

/// The vocabularies that random models speak: the fixture's with all bytes, with some bytes alone,
/// and pieces of text as a model's are.
fn vocabularies(case: &Case) -> Vec<Vec<Vec<u8>>> {
    let nasty = texts(case.value("vocabulary"));
    let single: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let few = own(&["", "{", "}", "\"", ":", "0", "a", ",", "[", "]", " ", "\\", "n", "\\\"", "é"]);
    let mut split = few.clone();
    split.extend([vec![0xc3], vec![0xa9, b'"'], vec![0xe2, 0x82], vec![0xf0]]);
    vec![[nasty, single.clone()].concat(), single, few, split]
}

/// The whole promise: whatever the model says, however its tokens are chosen, and however few may
/// come, the answer is JSON.
#[test]
fn task_4_always_json() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let mut rng = Rng::new(3707);
        let mut ends = [0usize; 2];
        for (v, texts) in vocabularies(&fixtures.case("task_3_walk/tokens")).iter().enumerate() {
            let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
            for grammar in [Json::Value, Json::Object] {
                let rules = Arc::new(Rules::new(grammar, Arc::clone(&vocabulary)));
                for round in 0..120 {
                    let constraint = Constraint::new(&rules);
                    let needed = constraint.needed().expect("there is a way to the end");
                    let budget = needed + (rng.next_u64() % [3, 12, 60][round % 3]) as usize;
                    let sampling = SamplerOptions {
                        temperature: [0.0, 1.0, 1e-40, 3.0][round % 4],
                        top_k: [0, 1, 5][round % 3],
                        top_p: [1.0, 0.3][round % 2],
                        repetition_penalty: [1.0, 2.0, 0.5][round % 3],
                        ..SamplerOptions::default()
                    };
                    let (text, tokens) =
                        random_answer(constraint, texts, budget, sampling.clone(), &mut rng);
                    let shown = text.escape_ascii();
                    let whole =
                        std::str::from_utf8(&text).is_ok_and(|text| text.parse::<Value>().is_ok());
                    assert!(
                        whole && tokens <= budget,
                        "vocabulary {v}, {grammar:?}, at most {budget} tokens ({needed} are \
                         needed), {sampling:?}: found {shown} in {tokens} tokens, which is no JSON"
                    );
                    ends[usize::from(tokens == budget)] += 1;
                }
            }
        }
        assert!(ends[0] > 50 && ends[1] > 50, "answers that ended before the budget, and with it");
    });
}

/// An answer of a model of no meaning.
fn random_answer(
    mut constraint: Constraint,
    texts: &[Vec<u8>],
    budget: usize,
    sampling: SamplerOptions,
    rng: &mut Rng,
) -> (Vec<u8>, usize) {
    let mut sampler = Sampler::new(sampling, rng.next_u64());
    let (mut text, mut seen) = (Vec::new(), Vec::new());
    for n in 0..budget {
        let mut logits = random_logits(rng, texts.len());
        let token = constraint.choose_with(&mut logits, (budget - n, &[0]), (&mut sampler, &seen));
        // Token 0 ends an answer.
        if token == 0 {
            break;
        }
        assert!(
            logits[token as usize] > f32::NEG_INFINITY,
            "behind {}, with {} tokens left, nothing is allowed",
            text.escape_ascii(),
            budget - n
        );
        seen.push(token);
        text.extend(&texts[token as usize]);
        if constraint.accept(token) {
            break;
        }
    }
    (text, seen.len())
}

/// A vocabulary for the fixture's models: bytes of JSON, and tokens that mean nothing.
fn small_vocabulary(n: usize) -> Vec<Vec<u8>> {
    let mut texts = own(&[
        "", "{", "}", "\"", ":", "0", "a", ",", "[", "]", " ", "\":", "{\"", "\"}", "1", "-", ".",
        "e", "true", "b", "é", "\\n", "}}", "],", "null", "\n", "abc", "12",
    ]);
    texts.resize(n, Vec::new());
    texts
}

fn engine(case: &Case, max_batch: usize, options: EngineOptions) -> Engine {
    serving::engine(case, max_batch, options)
}

/// Requests for JSON with few and with many tokens, greedy and sampled.
fn requests() -> Vec<Request> {
    (0..10u32)
        .map(|i| Request {
            stop_tokens: vec![0],
            seed: u64::from(i),
            sampling: SamplerOptions {
                temperature: if i % 3 == 0 { 0.0 } else { 2.5 },
                ..SamplerOptions::default()
            },
            ..request(&[1 + i, 7, 3], 2 + 2 * i as usize)
        })
        .collect()
}

fn text_of(texts: &[Vec<u8>], tokens: &[u32]) -> Vec<u8> {
    tokens.iter().flat_map(|&token| texts[token as usize].clone()).collect()
}

/// In the engine: an answer is an object, and the same alone and among others, some of which are
/// free to say what they like.
#[test]
fn task_4_batches_of_json() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
        let rules = Arc::new(Rules::new(Json::Object, Arc::clone(&vocabulary)));
        let (mut alone, mut free) = (Vec::new(), Vec::new());
        for constrained in [true, false] {
            for request in requests() {
                let mut engine = engine(&case, 1, EngineOptions::default());
                let constraint = constrained.then(|| Constraint::new(&rules));
                let id = engine.submit_constrained(request, constraint).expect("a good request");
                let mut told = Told::default();
                run(&mut engine, &mut told, "a request alone");
                let answer = told.answers.remove(&id).unwrap_or_default();
                let end = told.ends[&id];
                if constrained { &mut alone } else { &mut free }.push((answer, end));
            }
        }
        for ((answer, end), request) in alone.iter().zip(requests()) {
            let text = text_of(&texts, answer);
            let shown = text.escape_ascii();
            let value = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<Value>().ok());
            assert!(
                value.is_some_and(|value| value.is_object()),
                "{} tokens at most: found {shown}, expected an object",
                request.max_new_tokens
            );
            let most = request.max_new_tokens;
            assert!(answer.len() <= most, "{} tokens, expected at most {most}", answer.len());
            check::assert_answer(
                &format!(
                    "{shown}: an object that is whole ends the answer, also with the last token"
                ),
                end,
                &FinishReason::Stop,
            );
        }
        assert!(alone != free, "free answers are objects by themselves: {free:?}");
        for max_batch in [3, 7] {
            let mut engine = engine(&case, max_batch, EngineOptions::default());
            let mut all = Vec::new();
            for request in requests() {
                let constraint = Some(Constraint::new(&rules));
                let id = engine.submit_constrained(request.clone(), constraint);
                all.push((id.expect("a good request"), engine.submit(request).expect("the same")));
            }
            let mut told = Told::default();
            run(&mut engine, &mut told, "requests together");
            let of = |id| (told.answers.get(&id).cloned().unwrap_or_default(), told.ends[&id]);
            for (i, (json, any)) in all.into_iter().enumerate() {
                check::assert_answer(
                    &format!("request {i} as JSON, among others and alone"),
                    &of(json),
                    &alone[i],
                );
                check::assert_answer(
                    &format!("request {i} without a form, among others and alone"),
                    &of(any),
                    &free[i],
                );
            }
        }
    });
}

#[test]
fn task_4_what_cannot_be_is_refused() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let refusal = |texts: Vec<Vec<u8>>, context: usize, request: Request| {
            let options = EngineOptions { context, ..EngineOptions::default() };
            let mut engine = engine(&case, 1, options);
            let rules = Rules::new(Json::Object, Arc::new(Vocabulary::new(texts)));
            let constraint = Constraint::new(&Arc::new(rules));
            let refused = engine.submit_constrained(request, Some(constraint));
            assert!(
                engine.is_idle() == refused.is_err(),
                "a refused request leaves nothing behind"
            );
            refused.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let stops = Request { stop_texts: vec![b"}".to_vec()], ..request(&[1, 2], 9) };
        let without = texts.iter().map(|text| if text == b"{" { vec![] } else { text.clone() });
        for (why, message, words) in [
            ("one token", refusal(texts.clone(), 99, request(&[1, 2], 1)), &["1", "takes 2"][..]),
            ("no tokens", refusal(texts.clone(), 99, request(&[1, 2], 0)), &["0", "takes 2"]),
            ("room for one", refusal(texts.clone(), 3, request(&[1, 2], 9)), &["1", "takes 2"]),
            ("room for two", refusal(texts.clone(), 4, request(&[1, 2], 9)), &[]),
            ("a stop text", refusal(texts.clone(), 99, stops), &["stop text"]),
            ("no {", refusal(without.collect(), 99, request(&[1, 2], 9)), &["no tokens"]),
        ] {
            assert!(
                words.iter().all(|word| message.contains(word))
                    && words.is_empty() == message.is_empty(),
                "{why}: found the message {message:?}, expected one with {words:?}"
            );
        }
    });
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day7.rs"]
mod fresh;
