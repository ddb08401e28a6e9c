//! Week 3, day 1: a request's life, texts that end an answer, places in the cache, the engine.
//!
//! Expected tokens: `python-ref/oracle/week3_day1.py`.

#[path = "parts/serving.rs"]
mod serving;

use std::collections::BTreeMap;

use serving::{Told, engine_with, lists, model, request, run, step};
use tiny_llm::{
    week1::{generate::FinishReason, sampling::SamplerOptions},
    week2::{
        kernels::Rung,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week3::{
        engine::{Counts, Engine, EngineOptions, append_rows},
        request::{Phase, Request, RequestId, Sequence},
        slots::Slots,
        stop::StopTexts,
    },
};
use tiny_llm_harness::{
    allocations::{CountingAllocator, count},
    check,
    fixtures::{Case, Fixtures},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// Task 1

/// What happens to a request in a test.
#[derive(Debug, Clone, Copy)]
enum Act {
    Admit(usize),
    Computed(usize),
    /// A token, and whether it completes a stop text.
    Accept(u32, bool),
    Cancel,
}

/// Where a request stands: phase, tokens, how many of them are computed, slot.
type Stand = (Phase, Vec<u32>, usize, Option<usize>);

fn stand(sequence: &Sequence) -> Stand {
    (sequence.phase, sequence.tokens.clone(), sequence.num_computed, sequence.slot)
}

/// Does one thing, and returns what came back, if anything does.
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

/// Goes through a life step by step, and says at which step it went another way.
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
                "{call}\n  before   {before:?}\n  (what it returns, then phase, tokens, how many of \
                 them are computed, slot)\n "
            ),
            &found,
            &expected,
        );
        done.push(*next);
    }
}

#[test]
fn task_1_from_waiting_to_the_last_token() {
    use Act::{Accept, Admit, Computed};
    use Phase::{Decoding, Finished, Prefilling};
    lives(
        "a prompt of three tokens in one piece, two new tokens asked for",
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
fn task_1_a_prompt_in_pieces_chooses_nothing_before_its_end() {
    use Act::{Accept, Admit, Computed};
    use Phase::{Decoding, Prefilling};
    lives(
        "a prompt of four tokens, computed two, one and one at a time",
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

/// One request for each reason, and for two reasons at once.
#[test]
fn task_1_every_reason_to_end() {
    let stop = Request { stop_tokens: vec![9, 4], ..request(&[1, 2], 3) };
    let last = request(&[1, 2], 1);
    let accepted: [(&str, &Request, usize, u32, bool, Phase, bool); 8] = [
        ("a token like any other", &stop, 16, 5, false, Phase::Decoding, true),
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
            "a stop text in the last token that was asked for",
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
            "the last token asked for, which also fills the context",
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
            &format!("{call}: what it returns, the phase, and whether the token was kept\n "),
            &(found, sequence.phase, sequence.tokens.last() == Some(&token)),
            &(kept, phase, kept),
        );
    }
}

#[test]
fn task_1_cancelled_wherever_it_stands() {
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
            &format!(
                "cancelled {when}: phase, and the slot, which the engine still has to free\n "
            ),
            &(sequence.phase, sequence.slot),
            &(gone, slot),
        );
    }
    let mut sequence = Sequence::new(0, request(&[1, 2], 1), 16);
    for step in [Admit(1), Computed(2), Accept(3, false), Cancel] {
        act(&mut sequence, step);
    }
    check::assert_answer(
        "cancelled after its last token: the reason stays what it was\n ",
        &sequence.phase,
        &Phase::Finished(FinishReason::Length),
    );
}

#[test]
fn task_1_what_cannot_happen_is_refused() {
    use Act::{Accept, Admit, Computed};
    let refused: [(&str, &[Act], Act); 6] = [
        ("a request that runs is admitted again", &[Admit(0)], Admit(1)),
        ("rows of a request that waits", &[], Computed(1)),
        ("more rows than tokens", &[Admit(0)], Computed(3)),
        ("a row after the last token", &[Admit(0), Computed(2)], Computed(1)),
        ("a token in the middle of the prompt", &[Admit(0), Computed(1)], Accept(3, false)),
        (
            "a token after the end",
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
}

// Task 2

/// Pieces that come, and at which of them the text is there, if at any.
type Pieces = (&'static str, &'static [&'static str], &'static [&'static str], Option<usize>);

const PIECES: [Pieces; 12] = [
    ("in one piece", &["stop"], &["we stop here"], Some(0)),
    ("in the second piece", &["stop"], &["we ", "stop"], Some(1)),
    ("begins in one piece and ends in the next", &["stop"], &["we st", "op"], Some(1)),
    ("a byte at a time", &["stop"], &["s", "t", "o", "p"], Some(3)),
    ("begins again inside its own beginning", &["aab"], &["aa", "a", "b"], Some(2)),
    ("begins again in the piece that breaks it off", &["\n\nQ"], &["\n", "\n\n", "Q"], Some(2)),
    ("its parts, with something between them", &["stop"], &["st", "-", "op"], None),
    ("its end alone", &["stop"], &["t", "op"], None),
    ("the second of two", &["stop", "end"], &["the e", "nd"], Some(1)),
    ("a short one, after a long one has begun", &["stopped", "pp"], &["stop", "p"], Some(1)),
    ("an empty piece in between", &["stop"], &["st", "", "op"], Some(2)),
    ("no texts at all", &[], &["stop"], None),
];

#[test]
fn task_2_texts_over_pieces() {
    for (why, texts, pieces, expected) in PIECES {
        let mut stop = StopTexts::new(texts.iter().map(|t| t.as_bytes().to_vec()).collect());
        for (i, piece) in pieces.iter().enumerate() {
            let call = format!("{why}: texts {texts:?}, pieces {pieces:?}, number {i}, {piece:?}");
            let found = check::assert_accepts(&call, || stop.push(piece.as_bytes()));
            check::assert_answer(&call, &found, &(expected == Some(i)));
            if found {
                break;
            }
        }
    }
}

/// The halves of a character are no characters: bytes are compared, not letters.
#[test]
fn task_2_a_character_in_two_tokens() {
    let text = "▁é".as_bytes();
    for cut in 1..text.len() {
        let mut stop = StopTexts::new(vec![text.to_vec()]);
        let call = format!("the bytes {text:?}, cut after {cut}");
        let found = [stop.push(&text[..cut]), stop.push(&text[cut..])];
        check::assert_answer(&call, &found, &[false, true]);
    }
}

/// An answer of a million pieces must not be kept, nor searched again with every piece: two answers
/// that end alike leave the same behind, whatever came before.
#[test]
fn task_2_what_lies_behind_is_forgotten() {
    let texts = vec![b"a long text".to_vec(), b"b".to_vec()];
    let (mut long, mut short) = (StopTexts::new(texts.clone()), StopTexts::new(texts));
    for _ in 0..1000 {
        long.push(b"a long tex, then something else. ");
    }
    for stop in [&mut long, &mut short] {
        stop.push(b"The end is the same.");
        stop.push(b" Here, too.");
    }
    assert!(
        long == short,
        "33 kB of text and 31 more bytes, or those 31 bytes alone, where the longest text has 11: \
         what is kept must be the same, since only the last bytes can still become a part of a text"
    );
    assert!(!long.push(b"a long"), "half of a text");
    assert!(long.push(b" text"), "the other half");
}

// Task 3

#[test]
fn task_3_the_lowest_free_place() {
    let mut slots = Slots::new(3);
    let mut log = Vec::new();
    let mut claim = |slots: &mut Slots, id: RequestId, expected: Option<usize>| {
        let call = format!("three places, after {log:?}: claim({id})");
        let found = check::assert_accepts(&call, || slots.claim(id));
        check::assert_answer(&call, &found, &expected);
        log.push(format!("claim({id}) = {found:?}"));
    };
    claim(&mut slots, 10, Some(0));
    claim(&mut slots, 11, Some(1));
    claim(&mut slots, 12, Some(2));
    claim(&mut slots, 13, None);
    check::assert_accepts("release(2, 12)", || slots.release(2, 12));
    check::assert_accepts("release(0, 10)", || slots.release(0, 10));
    check::assert_answer("two of three given back: free places", &slots.num_free(), &2);
    let mut log = vec!["0, 1, 2 claimed, 2 and 0 given back"];
    let mut claim = |slots: &mut Slots, id: RequestId, expected: Option<usize>| {
        let call = format!("three places, after {log:?}: claim({id})");
        let found = check::assert_accepts(&call, || slots.claim(id));
        check::assert_answer(&call, &found, &expected);
        log.push("claimed again");
    };
    claim(&mut slots, 14, Some(0));
    claim(&mut slots, 15, Some(2));
    let owners: Vec<_> = (0..3).map(|slot| slots.owner(slot)).collect();
    check::assert_answer("whose each place is", &owners, &vec![Some(14), Some(11), Some(15)]);
}

#[test]
fn task_3_only_the_owner_gives_back() {
    let claimed = || {
        let mut slots = Slots::new(2);
        slots.claim(5);
        slots.claim(6);
        slots
    };
    check::assert_accepts("release(1, 6), whose place it is", || claimed().release(1, 6));
    check::assert_panics("release(1, 5): the place is request 6's", || claimed().release(1, 5));
    check::assert_panics("release(1, 6) a second time", || {
        let mut slots = claimed();
        slots.release(1, 6);
        slots.release(1, 6);
    });
    check::assert_panics("release(2, 5) of two places", || claimed().release(2, 5));
}

// Task 4

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day1")
}

/// With a context of 24.
fn engine(case: &Case, max_batch: usize) -> Engine {
    serving::engine(case, max_batch, EngineOptions { context: 24, ..EngineOptions::default() })
}

#[test]
fn task_4_rows_of_a_request() {
    let mut sequence = Sequence::new(3, request(&[5, 6, 7, 8], 4), 16);
    sequence.admit(2);
    sequence.computed(1);
    let row = |token, position, logits| Row { token, position, sequence: 2, logits };
    let first = row(1, 0, true);
    for (rows, expected) in [
        (1, vec![row(6, 1, false)]),
        (2, vec![row(6, 1, false), row(7, 2, false)]),
        (3, vec![row(6, 1, false), row(7, 2, false), row(8, 3, true)]),
        (0, vec![]),
    ] {
        let call = format!(
            "a prompt of four tokens in slot 2, of which one is computed: {rows} rows, after a row \
             that was there before"
        );
        let mut out = vec![first];
        check::assert_accepts(&call, || append_rows(&sequence, rows, &mut out));
        check::assert_answer(&call, &out, &[vec![first], expected].concat());
    }
    check::assert_panics("four rows, where three tokens are left", || {
        append_rows(&sequence, 4, &mut Vec::new());
    });
    sequence.computed(3);
    sequence.accept(9, false);
    let mut out = Vec::new();
    check::assert_accepts("one row of a request that decodes", || {
        append_rows(&sequence, 1, &mut out);
    });
    check::assert_answer(
        "the row of the token that was accepted last",
        &out,
        &vec![row(9, 4, true)],
    );
}

/// Each request alone, then all at once, then in pairs: the tokens are the oracle's.
#[test]
fn task_4_company_changes_nothing() {
    let fixtures = fixtures();
    for family in ["llama", "qwen3"] {
        let case = fixtures.case(&format!("task_4_engine/{family}"));
        let (prompts, answers) = (lists(&case, "prompts"), lists(&case, "greedy"));
        for max_batch in [1, 2, 6] {
            let mut engine = engine(&case, max_batch);
            let ids: Vec<_> = prompts
                .iter()
                .map(|prompt| engine.submit(request(prompt, 7)).expect("a good request"))
                .collect();
            let mut told = Told::default();
            let when = format!("{family}: six requests at once, at most {max_batch} in a step");
            run(&mut engine, &mut told, &when);
            for (i, id) in ids.iter().enumerate() {
                check::assert_answer(
                    &format!("{when}: the answer to prompt {i}, {:?}", prompts[i]),
                    &told.answers.get(id).cloned().unwrap_or_default(),
                    &answers[i],
                );
            }
            let rows: usize = prompts.iter().map(|prompt| prompt.len() + 6).sum();
            check::assert_answer(
                &format!(
                    "{when}: rows in all steps; every token of a prompt and every new token but the \
                     last is computed once"
                ),
                &engine.counts().rows,
                &(rows as u64),
            );
        }
    }
}

/// With two places, a request that is done makes room for the next one in the very next step.
#[test]
fn task_4_nobody_waits_for_a_batch_to_end() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
    let mut engine = engine(&case, 2);
    let lengths = [7, 2, 3, 1];
    for (prompt, n) in prompts.iter().zip(lengths) {
        engine.submit(request(prompt, n)).expect("a good request");
    }
    let mut told = Told::default();
    let mut seen = Vec::new();
    while !engine.is_idle() {
        step(&mut engine, &mut told, "four requests of 7, 2, 3 and 1 tokens in two places");
        seen.push((told.ends.len(), engine.num_waiting(), engine.running().len()));
        assert!(seen.len() < 50, "after 50 steps: {seen:?}");
    }
    // Request 0 runs in all seven steps; 1 in two of them, then 2 in three, then 3 in one.
    check::assert_answer(
        "four requests of 7, 2, 3 and 1 tokens in two places: after each step, how many are done, \
         wait, run\n ",
        &seen,
        &vec![(0, 2, 2), (1, 2, 1), (1, 1, 2), (1, 1, 2), (2, 1, 1), (3, 0, 1), (4, 0, 0)],
    );
}

/// Requests come, go and are cancelled at random; every answer is what it would be alone, or a
/// beginning of it.
#[test]
fn task_4_any_schedule_gives_the_same_answers() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/qwen3");
    let (prompts, answers) = (lists(&case, "prompts"), lists(&case, "greedy"));
    for seed in 0..40u64 {
        let mut random = tiny_llm::week1::sampling::Rng::new(seed);
        let mut below = |n: u64| (random.next_u64() % n) as usize;
        let mut engine = engine(&case, 1 + below(4));
        let (mut told, mut asked) = (Told::default(), BTreeMap::new());
        let mut cancelled = Vec::new();
        let mut log = Vec::new();
        for _ in 0..40 {
            match below(4) {
                0 if asked.len() < 12 => {
                    let (which, n) = (below(6), below(8));
                    let id = engine.submit(request(&prompts[which], n)).expect("a good request");
                    asked.insert(id, (which, n));
                    log.push(format!("submit prompt {which} for {n} tokens = {id}"));
                }
                1 if !asked.is_empty() && below(3) == 0 => {
                    let id = below(asked.len() as u64) as RequestId;
                    log.push(format!("cancel {id}"));
                    if engine.cancel(id) {
                        cancelled.push(id);
                    }
                }
                _ => {
                    log.push("step".to_owned());
                    step(&mut engine, &mut told, &format!("seed {seed}: {log:?}"));
                }
            }
        }
        run(&mut engine, &mut told, &format!("seed {seed}: {log:?}, then steps to the end"));
        for (id, (which, n)) in asked {
            let found = told.answers.remove(&id).unwrap_or_default();
            let whole = &answers[which][..n];
            let end = told.ends.get(&id).copied();
            let what = format!("seed {seed}, request {id} ({log:?})");
            if cancelled.contains(&id) && found.len() < n {
                check::assert_answer(
                    &format!("{what}: a beginning of the answer, and why it ended"),
                    &(found.as_slice(), end),
                    &(&whole[..found.len()], Some(FinishReason::Interrupted)),
                );
            } else {
                check::assert_answer(
                    &format!("{what}: the answer, and why it ended"),
                    &(found.as_slice(), end),
                    &(whole, Some(FinishReason::Length)),
                );
            }
        }
        assert!(told.answers.is_empty(), "seed {seed}: tokens of nobody's request: {told:?}");
    }
}

/// Each request has a generator of its own: what it draws is what it would draw alone. Its texts and
/// tokens to stop at are its own as well.
#[test]
fn task_4_every_request_draws_for_itself() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
    let requests: Vec<Request> = prompts
        .iter()
        .zip([3, 3, 5, 8, 13, 21])
        .map(|(prompt, seed)| Request {
            sampling: SamplerOptions { temperature: 1.5, ..SamplerOptions::default() },
            seed,
            stop_tokens: vec![prompt[0]],
            stop_texts: vec![b"7><".to_vec()],
            ..request(prompt, 12)
        })
        .collect();
    let answers = |max_batch, requests: &[Request]| {
        let mut engine = engine(&case, max_batch);
        for request in requests {
            engine.submit(request.clone()).expect("a good request");
        }
        let mut told = Told::default();
        run(&mut engine, &mut told, &format!("sampled requests, at most {max_batch} in a step"));
        told
    };
    let together = answers(6, &requests);
    for (id, request) in (0..).zip(&requests) {
        let mut alone = answers(1, std::slice::from_ref(request));
        check::assert_answer(
            &format!("request {id}, {request:?}: answer and end, among others and alone\n "),
            &(together.answers.get(&id), together.ends.get(&id)),
            &(alone.answers.remove(&0).as_ref(), alone.ends.remove(&0).as_ref()),
        );
    }
    let stopped = together.ends.values().filter(|&&end| end == FinishReason::Stop).count();
    assert!((1..6).contains(&stopped), "some stop early, some don't: {:?}", together.ends);
}

/// A server runs for months: a step in which nobody comes or goes takes no memory.
#[test]
fn task_4_a_step_allocates_nothing() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
    let plan = Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(1),
    };
    let mut engine = engine_with(&case, 4, plan, EngineOptions::default());
    for prompt in &prompts[..4] {
        engine.submit(request(prompt, 12)).expect("a good request");
    }
    let mut told = Told::default();
    step(&mut engine, &mut told, "four prompts");
    let (found, ()) = count(|| (0..10).for_each(|_| engine.step(&mut |_| ())));
    assert!(
        found == 0,
        "heap allocations of ten steps with four rows each: found {found}, expected none"
    );
}

#[test]
fn task_4_cancelled_requests_make_room() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
    let mut engine = engine(&case, 1);
    let ids: Vec<_> = prompts[..3]
        .iter()
        .map(|prompt| engine.submit(request(prompt, 7)).expect("a good request"))
        .collect();
    let mut told = Told::default();
    step(&mut engine, &mut told, "three requests in one place");
    assert!(engine.cancel(ids[0]), "request {} runs: cancel is to find it", ids[0]);
    assert!(engine.cancel(ids[1]), "request {} waits: cancel is to find it", ids[1]);
    assert!(!engine.cancel(99), "there is no request 99");
    step(&mut engine, &mut told, "the first two of them cancelled");
    let interrupted = Some(&FinishReason::Interrupted);
    check::assert_answer(
        "three requests in one place, of which the first two are cancelled after a step: after the \
         next, what is told of each, and who runs\n ",
        &(
            ids.iter().map(|id| told.ends.get(id)).collect::<Vec<_>>(),
            engine.running().iter().map(|sequence| sequence.id).collect::<Vec<_>>(),
        ),
        &(vec![interrupted, interrupted, None], vec![ids[2]]),
    );
}

#[test]
fn task_4_counts() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
    let mut engine = engine(&case, 6);
    for prompt in &prompts {
        engine.submit(request(prompt, 3)).expect("a good request");
    }
    let mut told = Told::default();
    run(&mut engine, &mut told, "six requests for three tokens each");
    let prompt_rows: usize = prompts.iter().map(Vec::len).sum();
    check::assert_answer(
        "six requests for three tokens each, all at once",
        &engine.counts(),
        &Counts { steps: 3, rows: prompt_rows as u64 + 12, most_rows: prompt_rows, preempted: 0 },
    );
}

#[test]
fn task_4_bad_requests_are_refused_alone() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let (prompts, answers) = (lists(&case, "prompts"), lists(&case, "greedy"));
    let mut engine = engine(&case, 2);
    let good = engine.submit(request(&prompts[0], 7)).expect("a good request");
    let vocabulary = model(&case).config.vocab_size as u32;
    let sampling = |change: fn(&mut SamplerOptions)| {
        let mut bad = request(&[1], 3);
        change(&mut bad.sampling);
        bad
    };
    for (why, bad, words) in [
        ("an empty prompt", request(&[], 3), vec!["empty"]),
        ("25 tokens in a context of 24", request(&[1; 25], 3), vec!["25", "24"]),
        ("a token out of range", request(&[1, vocabulary], 3), vec!["position 1", "vocabulary"]),
        ("a NaN", sampling(|s| s.temperature = f32::NAN), vec!["temperature", "NaN"]),
        ("a top_p of 0", sampling(|s| s.top_p = 0.0), vec!["top_p", "0"]),
        ("a min_p of 2", sampling(|s| s.min_p = 2.0), vec!["min_p", "2"]),
    ] {
        let error = match engine.submit(bad) {
            Ok(id) => panic!("{why}: it was taken as request {id}"),
            Err(error) => error.to_string(),
        };
        for word in words {
            assert!(error.contains(word), "{why}: the error {error:?} does not say {word:?}");
        }
    }
    let mut told = Told::default();
    run(&mut engine, &mut told, "one good request among bad ones");
    check::assert_answer(
        "the good request's answer",
        &told.answers.remove(&good).unwrap_or_default(),
        &answers[0],
    );
}

/// A request for no tokens, and one whose prompt fills the context, end without a forward pass.
#[test]
fn task_4_nothing_to_compute() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_engine/llama");
    let mut engine = engine(&case, 1);
    let none = engine.submit(request(&[1, 2], 0)).expect("a good request");
    let full = engine.submit(request(&[1; 24], 5)).expect("it just fits");
    let mut told = Told::default();
    run(&mut engine, &mut told, "a request for no tokens, and one that fills the context");
    check::assert_answer(
        "what is told of them, and how many steps ran",
        &(told.ends.get(&none), told.ends.get(&full), engine.counts().steps),
        &(Some(&FinishReason::Length), Some(&FinishReason::ContextFull), 0),
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week3_day1.rs"]
mod fresh;
