//! Week 3, day 1, task 1: a request's life.

use tiny_llm::{
    week1::generate::FinishReason,
    week3::request::{Phase, Request, Sequence},
};
use tiny_llm_harness::check;

use super::serving::request;

/// A call of a method of a request.
#[derive(Debug, Clone, Copy)]
enum Act {
    Admit(usize),
    Computed(usize),
    /// The accepted token, and whether it completes a stop text.
    Accept(u32, bool),
    Cancel,
}

/// The state of a request: phase, tokens, number of computed tokens, slot.
type Stand = (Phase, Vec<u32>, usize, Option<usize>);

fn stand(sequence: &Sequence) -> Stand {
    (sequence.phase, sequence.tokens.clone(), sequence.num_computed, sequence.slot)
}

/// Makes the call `act`. Returns its result, if it has one.
fn act(sequence: &mut Sequence, act: Act) -> Option<bool> {
    match act {
        Act::Admit(slot) => {
            sequence.admit(slot);
            None
        }
        Act::Computed(rows) => Some(sequence.computed(rows)),
        Act::Accept(token, completes) => Some(sequence.accept(token, completes)),
        Act::Cancel => {
            sequence.cancel();
            None
        }
    }
}

/// Makes the calls of `life` one by one, and fails at the first with an unexpected result or state.
#[track_caller]
fn lives(why: &str, request: Request, context: usize, life: &[(Act, Option<bool>, Stand)]) {
    let mut sequence = Sequence::new(7, request, context);
    let mut done = Vec::new();
    for (next, returned, expected) in life {
        let before = stand(&sequence);
        let call = format!("{why}: after {done:?}, {next:?}");
        let found = check::assert_accepts(&call, || act(&mut sequence, *next));
        let found = (found, stand(&sequence));
        let expected = (*returned, expected.clone());
        check::assert_answer(
            &format!(
                "{call}\n  before   {before:?}\n  (return value, then phase, tokens, num_computed, \
                 slot)\n "
            ),
            &found,
            &expected,
        );
        done.push(*next);
    }
}

#[test]
fn task_1_phases_from_waiting_to_finished() {
    use Act::{Accept, Admit, Computed};
    use Phase::{Decoding, Finished, Prefilling};
    lives(
        "a prompt of three tokens in one piece, max_new_tokens 2",
        request(&[5, 6, 7], 2),
        16,
        &[
            (Admit(3), None, (Prefilling, vec![5, 6, 7], 0, Some(3))),
            (Computed(3), Some(true), (Decoding, vec![5, 6, 7], 3, Some(3))),
            (Accept(8, false), Some(true), (Decoding, vec![5, 6, 7, 8], 3, Some(3))),
            (Computed(1), Some(true), (Decoding, vec![5, 6, 7, 8], 4, Some(3))),
            (
                Accept(9, false),
                Some(true),
                (Finished(FinishReason::Length), vec![5, 6, 7, 8, 9], 4, Some(3)),
            ),
        ],
    );
}

#[test]
fn task_1_chunked_prefill_decodes_only_after_last_chunk() {
    use Act::{Accept, Admit, Computed};
    use Phase::{Decoding, Prefilling};
    lives(
        "a prompt of four tokens, computed in pieces of two, one and one",
        request(&[1, 2, 3, 4], 5),
        16,
        &[
            (Admit(0), None, (Prefilling, vec![1, 2, 3, 4], 0, Some(0))),
            (Computed(2), Some(false), (Prefilling, vec![1, 2, 3, 4], 2, Some(0))),
            (Computed(1), Some(false), (Prefilling, vec![1, 2, 3, 4], 3, Some(0))),
            (Computed(1), Some(true), (Decoding, vec![1, 2, 3, 4], 4, Some(0))),
            (Accept(2, false), Some(true), (Decoding, vec![1, 2, 3, 4, 2], 4, Some(0))),
        ],
    );
}

/// Finishes one request for each reason, and some for two reasons at once.
#[test]
fn task_1_accept_sets_every_finish_reason() {
    let stop = Request { stop_tokens: vec![9, 4], ..request(&[1, 2], 3) };
    let last = request(&[1, 2], 1);
    let accepted: [(&str, &Request, usize, u32, bool, Phase, bool); 8] = [
        ("an ordinary token", &stop, 16, 5, false, Phase::Decoding, true),
        ("a stop token", &stop, 16, 4, false, Phase::Finished(FinishReason::Stop), false),
        ("the other stop token", &stop, 16, 9, false, Phase::Finished(FinishReason::Stop), false),
        ("a stop text", &stop, 16, 5, true, Phase::Finished(FinishReason::Stop), true),
        (
            "a stop text that a stop token would complete",
            &stop,
            16,
            4,
            true,
            Phase::Finished(FinishReason::Stop),
            false,
        ),
        (
            "a stop text in the last requested token",
            &last,
            16,
            5,
            true,
            Phase::Finished(FinishReason::Stop),
            true,
        ),
        (
            "the token that fills a context of three",
            &stop,
            3,
            5,
            false,
            Phase::Finished(FinishReason::ContextFull),
            true,
        ),
        (
            "the last requested token, which also fills the context",
            &last,
            3,
            5,
            false,
            Phase::Finished(FinishReason::Length),
            true,
        ),
    ];
    for (why, request, context, token, completes, phase, kept) in accepted {
        let mut sequence = Sequence::new(0, request.clone(), context);
        sequence.admit(0);
        sequence.computed(2);
        let call = format!("{why}: accept({token}, {completes})");
        let found = check::assert_accepts(&call, || sequence.accept(token, completes));
        check::assert_answer(
            &format!("{call}: (return value, phase, whether the token was kept)\n "),
            &(found, sequence.phase, sequence.tokens.last() == Some(&token)),
            &(kept, phase, kept),
        );
    }
}

#[test]
fn task_1_cancel_in_any_phase() {
    use Act::{Accept, Admit, Cancel, Computed};
    let gone = Phase::Finished(FinishReason::Interrupted);
    let waiting: (&str, &[Act]) = ("while it waits", &[]);
    let lives: [(&str, &[Act]); 3] = [
        waiting,
        ("in the middle of its prompt", &[Admit(1), Computed(1)]),
        ("while it decodes", &[Admit(1), Computed(2), Accept(3, false)]),
    ];
    for (when, life) in lives {
        let mut sequence = Sequence::new(0, request(&[1, 2], 3), 16);
        for &step in life {
            act(&mut sequence, step);
        }
        let slot = sequence.slot;
        check::assert_accepts(&format!("cancel {when}"), || act(&mut sequence, Cancel));
        check::assert_answer(
            &format!("cancelled {when}: (phase, slot); the engine frees the slot later\n "),
            &(sequence.phase, sequence.slot),
            &(gone, slot),
        );
    }
    let mut sequence = Sequence::new(0, request(&[1, 2], 1), 16);
    for step in [Admit(1), Computed(2), Accept(3, false), Cancel] {
        act(&mut sequence, step);
    }
    check::assert_answer(
        "cancelled after its last token: the finish reason must not change\n ",
        &sequence.phase,
        &Phase::Finished(FinishReason::Length),
    );
}

/// Day 3 preempts a request: it loses its slot and waits again, with its answer so far.
#[test]
fn task_1_recomputes_answer_after_preemption() {
    let all = vec![1, 2, 8, 9];
    let mut sequence = Sequence::new(0, request(&[1, 2], 5), 16);
    for step in [
        Act::Admit(1),
        Act::Computed(2),
        Act::Accept(8, false),
        Act::Computed(1),
        Act::Accept(9, false),
    ] {
        act(&mut sequence, step);
    }
    (sequence.phase, sequence.slot, sequence.num_computed) = (Phase::Waiting, None, 0);
    let mut done =
        "two prompt tokens and two new tokens, none of them in the cache any more".to_owned();
    for (next, returned, phase, computed) in [
        (Act::Admit(2), None, Phase::Prefilling, 0),
        (Act::Computed(1), Some(false), Phase::Prefilling, 1),
        (Act::Computed(1), Some(false), Phase::Prefilling, 2),
        (Act::Computed(1), Some(false), Phase::Prefilling, 3),
        (Act::Computed(1), Some(true), Phase::Decoding, 4),
        (Act::Accept(5, false), Some(true), Phase::Decoding, 4),
    ] {
        let call = format!("{done}: {next:?}");
        let returns = check::assert_accepts(&call, || act(&mut sequence, next));
        let kept = if matches!(next, Act::Accept(..)) { vec![1, 2, 8, 9, 5] } else { all.clone() };
        check::assert_answer(
            &format!(
                "{call}\n  (return value, then phase, tokens, num_computed, slot. The next token \
                 is chosen once all tokens so far are computed, not only the prompt.)\n "
            ),
            &(returns, stand(&sequence)),
            &(returned, (phase, kept, computed, Some(2))),
        );
        done += &format!(", {next:?}");
    }
}

#[test]
fn task_1_panics_on_invalid_transitions() {
    use Act::{Accept, Admit, Cancel, Computed};
    let refused: [(&str, &[Act], Act); 12] = [
        ("a request that runs is admitted again", &[Admit(0)], Admit(1)),
        ("a request that was cancelled while waiting is admitted", &[Cancel], Admit(0)),
        ("a request that was cancelled while running is admitted", &[Admit(0), Cancel], Admit(1)),
        ("a decoding request is admitted", &[Admit(0), Computed(2)], Admit(1)),
        ("rows computed for a request that was cancelled while waiting", &[Cancel], Computed(1)),
        ("rows computed for a cancelled request", &[Admit(0), Cancel], Computed(1)),
        (
            "a token accepted for a cancelled request",
            &[Admit(0), Computed(2), Cancel],
            Accept(3, false),
        ),
        ("rows computed for a waiting request", &[], Computed(1)),
        ("more rows computed than there are tokens", &[Admit(0)], Computed(3)),
        ("a row computed after the last token", &[Admit(0), Computed(2)], Computed(1)),
        (
            "a token accepted in the middle of the prompt",
            &[Admit(0), Computed(1)],
            Accept(3, false),
        ),
        (
            "a token accepted after the end",
            &[Admit(0), Computed(2), Accept(3, false), Computed(1), Accept(3, false)],
            Accept(3, false),
        ),
    ];
    for (why, life, last) in refused {
        let mut sequence = Sequence::new(0, request(&[1, 2], 2), 16);
        for &step in life {
            check::assert_accepts(&format!("before {why}: {step:?}"), || act(&mut sequence, step));
        }
        check::assert_panics(&format!("{why}: after {life:?}, {last:?}"), || {
            act(&mut sequence, last)
        });
    }
    for (why, request, context) in [
        ("a request for no tokens, which is already finished,", request(&[1, 2], 0), 16),
        ("a request whose prompt fills the context", request(&[1, 2], 2), 2),
    ] {
        let mut sequence = Sequence::new(0, request, context);
        check::assert_panics(&format!("{why} is admitted"), || sequence.admit(0));
    }
}
