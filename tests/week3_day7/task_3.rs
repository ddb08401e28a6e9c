//! Week 3, day 7, task 3: from bytes to tokens.

use super::*;

/// A small grammar for tests of the trie. It accepts texts of `a` and `b` of at most `most` bytes
/// with no two `b` in a row, and counts the calls of `next`.
pub(super) struct NoDoubleB {
    most: usize,
    pub(super) asked: AtomicUsize,
}

impl NoDoubleB {
    pub(super) fn new(most: usize) -> Self {
        Self { most, asked: AtomicUsize::new(0) }
    }
}

impl Grammar for NoDoubleB {
    /// Number of bytes so far, and whether the last one was a `b`.
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

pub(super) fn own(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns all tokens that a walk finds, with the states after them, sorted by id.
pub(super) fn found<G: Grammar>(
    trie: &TokenTrie,
    grammar: &G,
    state: &G::State,
) -> Vec<(u32, G::State)> {
    let mut all = Vec::new();
    trie.walk(grammar, state, &mut |token, state| all.push((token, state.clone())));
    all.sort_by_key(|(token, _)| *token);
    all
}

#[test]
pub(super) fn task_3_walk_over_small_vocabulary() {
    let texts =
        own(&["a", "b", "ab", "bb", "aba", "abb", "", "ab", "c", "ac", "abab", "bab", "ba"]);
    let call = "the tokens a, b, ab, bb, aba, abb, an empty one, ab again, c, ac, abab, bab, ba";
    let trie = check::assert_accepts(call, || TokenTrie::new(&texts));
    check::assert_answer(
        &format!("{call}: nodes of the tree, including the root\n "),
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
            "after a b",
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
        let what = format!(
            "{call}; the grammar allows a and b, but no two b in a row: {why}, tokens that walk \
             reports"
        );
        check::assert_answer(&what, &found, &expected);
    }
}

/// Texts with a common prefix share nodes, in any order. If several tokens have the same text, each
/// is reported.
#[test]
pub(super) fn task_3_walk_with_random_vocabularies() {
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
            "round {round}: nodes of the tree of {texts:?}, one for each prefix and the root"
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
        assert_eq!(tokens, expected, "round {round}: tokens of {texts:?} that walk reports");
        // One call for each prefix whose earlier bytes are all allowed.
        let asked = prefixes.iter().filter(|text| good(&text[..text.len() - 1])).count();
        assert_eq!(
            grammar.asked.load(Ordering::Relaxed),
            asked,
            "round {round}: how often the grammar was asked about a byte. Tokens {texts:?}: ask \
             once for each prefix whose earlier bytes are all allowed"
        );
    }
}

#[test]
fn task_3_walk_finds_tokens_valid_after_a_json_prefix() {
    let case = fixtures().case("task_3_walk/tokens");
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
                format!("after {}: {} tokens may follow", prefix.escape_ascii(), tokens.len())
            };
            let list = |tokens: &[usize]| {
                let texts =
                    tokens.iter().map(|&token| vocabulary[token].escape_ascii().to_string());
                let texts: Vec<String> = texts.collect();
                format!("after {}: {}", prefix.escape_ascii(), texts.join(" | "))
            };
            counts.push(count(&tokens), count(&right));
            lists.push(list(&tokens), list(&right));
        }
        counts.compare(
            "number of tokens that may follow; the vocabulary has all bytes and tokens that span \
             several elements or split a character, an escape or a word",
        );
        lists.same();
    });
}

/// A token's text may have any length.
#[test]
fn task_3_walk_over_long_token() {
    let texts = vec![b"ab".repeat(20_000), b"ab".to_vec()];
    let grammar = NoDoubleB::new(40_000);
    let call = "a token of 40,000 bytes";
    let found =
        check::assert_accepts(call, || found(&TokenTrie::new(&texts), &grammar, &(0, false)));
    assert_eq!(found, [(0, (40_000, true)), (1, (2, true))], "{call}: the tokens that walk finds");
}
