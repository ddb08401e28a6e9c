//! Week 3, day 6, task 1: drafts from the text so far.

use tiny_llm::{week1::sampling::Rng, week3::lookup::draft_from_text};
use tiny_llm_harness::check;

/// Name, text, maximum length of a suffix, `k`, and the expected draft.
type Lookup = (&'static str, &'static [u32], usize, usize, &'static [u32]);

const LOOKUPS: [Lookup; 13] = [
    ("a phrase that occurred before", &[1, 2, 3, 4, 5, 1, 2], 3, 3, &[3, 4, 5]),
    (
        "the longest end counts, although a shorter one occurs later",
        &[1, 2, 7, 3, 2, 8, 1, 2],
        3,
        1,
        &[7],
    ),
    ("the last of two occurrences", &[1, 2, 7, 0, 1, 2, 8, 0, 1, 2], 2, 2, &[8, 0]),
    ("ends of at most one token", &[4, 3, 7, 5, 3, 8, 4, 3], 1, 1, &[8]),
    ("ends of at most two tokens", &[6, 4, 3, 7, 5, 4, 3, 8, 6, 4, 3], 2, 1, &[8]),
    ("only a single token occurred before", &[9, 2, 6, 1, 2], 3, 2, &[6, 1]),
    ("the continuation runs into the end", &[1, 2, 1, 2], 2, 5, &[1, 2]),
    ("an occurrence that overlaps the end", &[1, 2, 1, 2, 1, 2, 1], 3, 4, &[2, 1]),
    ("an end that did not occur before", &[1, 2, 3], 2, 4, &[]),
    ("a single token", &[1], 3, 4, &[]),
    ("an empty text", &[], 3, 4, &[]),
    ("no drafts requested", &[1, 1, 1], 3, 0, &[]),
    ("`longest` is 0", &[1, 1, 1], 0, 4, &[]),
];

#[test]
fn task_1_draft_from_text_returns_earlier_continuation() {
    for (why, text, longest, k, expected) in LOOKUPS {
        let call = format!("{why}: draft_from_text({text:?}, {longest}, {k})");
        let found = check::assert_accepts(&call, || draft_from_text(text, longest, k));
        check::assert_answer(&call, &found, &expected);
    }
}

/// Compares the result with the definition, on random texts of few different tokens.
#[test]
fn task_1_draft_from_text_with_random_texts() {
    let mut rng = Rng::new(61);
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    for _ in 0..2000 {
        let tokens = 2 + below(4);
        let text: Vec<u32> = (0..below(24)).map(|_| below(tokens as u64) as u32).collect();
        let (longest, k) = (below(6), below(6));
        let mut expected: &[u32] = &[];
        'ends: for n in (1..=longest).rev().filter(|n| *n < text.len()) {
            for start in (0..text.len() - n).rev() {
                if text[start..start + n] == text[text.len() - n..] {
                    let from = start + n;
                    expected = &text[from..text.len().min(from + k)];
                    break 'ends;
                }
            }
        }
        let call = format!("draft_from_text({text:?}, {longest}, {k})");
        let found = check::assert_accepts(&call, || draft_from_text(&text, longest, k));
        check::assert_answer(&call, &found, &expected);
    }
}
