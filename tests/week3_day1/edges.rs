//! Week 3, day 1: edge cases of limits, and random pieces, claims and rows.

use tiny_llm::{
    week1::generate::FinishReason,
    week3::{
        engine::append_rows,
        request::{Phase, Request, RequestId, Sequence},
        slots::Slots,
        stop::StopTexts,
    },
};
use tiny_llm_harness::check::{assert_accepts, assert_panics};

use super::{drawn::below, serving::request};

/// Writes at most `most` tokens to a request, until it finishes. Returns the number of tokens.
fn write(sequence: &mut Sequence, most: usize, token: impl Fn(usize) -> u32) -> usize {
    sequence.admit(0);
    for written in 0..most {
        if sequence.finished().is_some() {
            return written;
        }
        let left = sequence.num_left();
        assert!(
            sequence.computed(left),
            "computed({left}) returned false, but now all tokens are computed"
        );
        sequence.accept(token(written), false);
    }
    most
}

#[test]
fn task_1_ends_at_max_new_tokens_or_full_context() {
    for prompt in 1..4usize {
        for asked in [1, 2, 3, 5, usize::MAX] {
            for context in [2, 3, 4, 6, 9, usize::MAX] {
                if prompt >= context {
                    continue;
                }
                let tokens: Vec<u32> = (0..prompt as u32).collect();
                // Such a request never ends.
                if asked == usize::MAX && context == usize::MAX {
                    continue;
                }
                let mut sequence = Sequence::new(3, request(&tokens, asked.min(40)), context);
                sequence.limits.max_new_tokens = asked;
                let what =
                    format!("prompt of {prompt} tokens, max_new_tokens {asked}, context {context}");
                let room = context - prompt;
                let written = assert_accepts(&what, || write(&mut sequence, 30, |i| i as u32));
                let (expected, reason) = if asked <= room {
                    (asked, FinishReason::Length)
                } else {
                    (room, FinishReason::ContextFull)
                };
                if expected < 30 {
                    assert_eq!(
                        (written, sequence.finished()),
                        (expected, Some(reason)),
                        "{what}: (new tokens, finish reason)"
                    );
                }
                assert_eq!(sequence.tokens.len(), prompt + written, "{what}: length of `tokens`");
            }
        }
    }
}

#[test]
fn task_1_stop_tokens_apply_only_to_new_tokens() {
    for (stop, script, kept) in [
        (&[][..], &[0, 0, u32::MAX, 0][..], 4),
        (&[0], &[5, 0, 7, 7], 1),
        (&[u32::MAX], &[5, 6, u32::MAX, 7], 2),
        (&[1, 2, 3, 9], &[4, 4, 9, 4], 2),
        (&[5, 5], &[5, 4, 4, 4], 0),
        // The tokens of the prompt are not stop tokens here.
        (&[8, 6], &[1, 2, 3, 6], 3),
    ] {
        let request = Request { stop_tokens: stop.to_vec(), ..request(&[8, 8, 8], 4) };
        let mut sequence = Sequence::new(0, request, 100);
        write(&mut sequence, 4, |i| script[i]);
        let reason = if kept < 4 { FinishReason::Stop } else { FinishReason::Length };
        assert_eq!(
            (&sequence.tokens[3..], sequence.finished()),
            (&script[..kept], Some(reason)),
            "stop tokens {stop:?}, model output {script:?}: (tokens kept, finish reason)"
        );
    }
}

#[test]
fn task_1_computed_and_cancel_edge_cases() {
    let mut sequence = Sequence::new(0, request(&[1, 2, 3], 4), 100);
    sequence.admit(5);
    for _ in 0..3 {
        let found = assert_accepts("computed(0) during the prompt", || sequence.computed(0));
        assert_eq!(
            (found, sequence.phase, sequence.num_computed),
            (false, Phase::Prefilling, 0),
            "computed(0) before any of three tokens: (return value, phase, num_computed)"
        );
    }
    for rows in [4, 100, usize::MAX] {
        assert_panics(&format!("computed({rows}) of a request with three tokens"), || {
            let mut sequence = Sequence::new(0, request(&[1, 2, 3], 4), 100);
            sequence.admit(5);
            sequence.computed(rows)
        });
        assert_panics(&format!("computed({rows}) with two of three tokens left"), || {
            let mut sequence = Sequence::new(0, request(&[1, 2, 3], 4), 100);
            sequence.admit(5);
            sequence.computed(1);
            sequence.computed(rows.max(3))
        });
    }
    // A cancelled request keeps its state, and cancelling it again changes nothing.
    assert!(sequence.computed(3), "computed(3) returned false, but the whole prompt is computed");
    sequence.accept(9, false);
    for _ in 0..2 {
        sequence.cancel();
        assert_eq!(
            (sequence.finished(), &sequence.tokens[..], sequence.num_computed, sequence.slot),
            (Some(FinishReason::Interrupted), &[1, 2, 3, 9][..], 3, Some(5)),
            "cancelled after one token: (finish reason, tokens, num_computed, slot)"
        );
    }
    for (stop, context, reason) in [(9, 100, FinishReason::Stop), (8, 4, FinishReason::ContextFull)]
    {
        let request = Request { stop_tokens: vec![stop], ..request(&[1, 2, 3], 4) };
        let mut sequence = Sequence::new(0, request, context);
        write(&mut sequence, 1, |_| 9);
        sequence.cancel();
        assert_eq!(
            sequence.finished(),
            Some(reason),
            "cancel after the end must not change the finish reason"
        );
    }
}

/// Compares `StopTexts` with a search of all bytes so far.
#[test]
fn task_2_random_stop_texts_in_random_pieces() {
    for seed in 0..3000 {
        let mut below = below(seed);
        // Only few different bytes, including the smallest and the largest.
        let bytes = [[0, 255, 10], [b'a', b'b', b'c']][below(2)];
        let mut word = |most: usize| -> Vec<u8> {
            let n = below(most + 1);
            (0..n).map(|_| bytes[below(3)]).collect()
        };
        let texts: Vec<Vec<u8>> = (0..1 + seed % 4).map(|_| word(6)).collect();
        let pieces: Vec<Vec<u8>> = (0..12).map(|_| word(5)).collect();
        let (mut stop, mut all) = (StopTexts::new(texts.clone()), Vec::new());
        for (i, piece) in pieces.iter().enumerate() {
            all.extend_from_slice(piece);
            let within = |text: &Vec<u8>| {
                !text.is_empty() && all.windows(text.len()).any(|part| part == text)
            };
            let expected = texts.iter().any(within);
            let what =
                format!("stop texts {texts:?}, pieces {:?}: push of the last piece", &pieces[..=i]);
            let found = assert_accepts(&what, || stop.push(piece));
            assert!(found == expected, "{what}: found {found}, expected {expected}");
            if found {
                break;
            }
        }
    }
}

#[test]
fn task_2_long_many_and_empty_stop_texts() {
    let long: Vec<u8> = (0..3000).map(|i| (i * 7 % 251) as u8).collect();
    for step in [1, 7, 999, 2999, 3000] {
        let mut stop = StopTexts::new(vec![long.clone(), b"never".to_vec()]);
        let n = long.chunks(step).count();
        for (i, piece) in long.chunks(step).enumerate() {
            let found = stop.push(piece);
            assert!(
                found == (i + 1 == n),
                "a stop text of 3000 bytes in pieces of {step}: push of piece {i} of {n} returned \
                 {found}, expected {}",
                !found
            );
        }
    }
    let texts: Vec<Vec<u8>> = (0..40).map(|i| format!("<{i}>").into_bytes()).collect();
    for i in [0, 9, 10, 39, 40] {
        let mut stop = StopTexts::new(texts.clone());
        let found = stop.push(format!("a <4 <{i}> b").as_bytes());
        assert!(
            found == (i < 40),
            "stop texts <0> to <39>, then <{i}> in the answer: push returned {found}, expected {}",
            !found
        );
    }
    let mut none = StopTexts::new(vec![Vec::new(), Vec::new()]);
    assert!(
        !none.push(b"") && !none.push(b"anything"),
        "push returned true; empty stop texts must be ignored"
    );
}

/// Compares random claims and releases of slots with a list of owners.
#[test]
fn task_3_random_claims_and_releases() {
    for seed in 0..400 {
        let mut below = below(seed);
        let n = below(6);
        let (mut slots, mut owners) = (Slots::new(n), vec![None; n]);
        let mut log = Vec::new();
        for step in 0..40 {
            let taken: Vec<usize> = (0..n).filter(|&i| owners[i].is_some()).collect();
            if below(2) == 0 && !taken.is_empty() {
                let slot = taken[below(taken.len())];
                let id: RequestId = owners[slot].take().expect("this slot is taken");
                log.push(format!("release({slot}, {id})"));
                assert_accepts(&format!("{n} slots: {log:?}"), || slots.release(slot, id));
            } else {
                let id = if below(5) == 0 { RequestId::MAX - step } else { step };
                let expected = owners.iter().position(Option::is_none);
                if let Some(slot) = expected {
                    owners[slot] = Some(id);
                }
                let found = slots.claim(id);
                log.push(format!("claim({id}) = {found:?}"));
                assert!(found == expected, "{n} slots: {log:?}: expected {expected:?}");
            }
            let found: Vec<_> = (0..n).map(|slot| slots.owner(slot)).collect();
            assert!(found == owners, "{n} slots: {log:?}: owners {found:?}, expected {owners:?}");
        }
    }
    for n in [0, 300] {
        let mut slots = Slots::new(n);
        let claimed: Vec<_> = (0..=n).map(|i| slots.claim(i as RequestId)).collect();
        let expected: Vec<_> = (0..n).map(Some).chain([None]).collect();
        assert!(
            claimed == expected,
            "{n} slots, {n} + 1 claims: found {claimed:?}, expected all slots in order, then None"
        );
    }
    for slot in [0, 1, usize::MAX] {
        assert_panics(&format!("release({slot}, 0) when no slot is taken"), || {
            Slots::new(2).release(slot, 0);
        });
    }
}

#[test]
fn task_4_append_rows_of_invalid_requests_panics() {
    let mut sequence = Sequence::new(0, request(&[1, 2, 3], 3), 100);
    assert_panics("append_rows of a request without a slot", || {
        append_rows(&Sequence::new(0, request(&[1], 3), 100), 1, &mut Vec::new());
    });
    sequence.admit(0);
    sequence.computed(1);
    for rows in [3, 4, usize::MAX] {
        assert_panics(&format!("append_rows of {rows} rows with two tokens left"), || {
            append_rows(&sequence, rows, &mut Vec::new());
        });
    }
}
