//! Week 3, day 1, on fresh inputs.

use tiny_llm::{
    week1::sampling::SamplerOptions,
    week3::{
        engine::append_rows,
        options::EngineOptions,
        request::{Request, Sequence},
        slots::Slots,
        stop::StopTexts,
    },
};
use tiny_llm_harness::{fixtures::Fixtures, fresh::Fresh};

use super::serving;

/// Returns a request whose prompt has a few tokens below 11.
fn request(fresh: &Fresh) -> Request {
    let options = SamplerOptions::default();
    Request {
        prompt: fresh.tokens(fresh.from_to(1, 6), 11),
        max_new_tokens: fresh.from_to(1, 6),
        stop_tokens: fresh.tokens(2, 11),
        stop_texts: vec![fresh.bytes(1)],
        sampling: SamplerOptions { temperature: 0.0, ..options },
        seed: fresh.u64(),
    }
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day1 task 1");
    for round in 0..12 {
        let context = fresh.from_to(5, 14);
        let mut sequence = Sequence::new(round, request(&fresh), context);
        let stand = |sequence: &Sequence| {
            (sequence.phase, sequence.tokens.clone(), sequence.num_computed, sequence.slot)
        };
        if sequence.finished().is_none() {
            sequence.admit(fresh.below(9));
            let cancelled = fresh.below(12);
            for i in 0..12 {
                if i == cancelled {
                    sequence.cancel();
                }
                if sequence.finished().is_some() {
                    break;
                }
                let all = sequence.computed(fresh.from_to(1, sequence.num_left()));
                let kept =
                    all.then(|| sequence.accept(fresh.below(11) as u32, fresh.below(9) == 0));
                fresh.says("an event", &(all, kept, stand(&sequence)));
            }
        }
        sequence.cancel();
        fresh.says("the end", &stand(&sequence));
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day1 task 2");
    for _ in 0..12 {
        // Texts of two letters, so that a text often begins again inside itself.
        let letters = |n: usize| (0..n).map(|_| b'a' + fresh.below(2) as u8).collect::<Vec<_>>();
        let texts: Vec<_> =
            (0..fresh.from_to(1, 3)).map(|_| letters(fresh.from_to(3, 7))).collect();
        let mut stop = StopTexts::new(texts);
        // The results after the end of an answer are not checked.
        let pieces: Vec<_> = (0..12).map(|_| letters(fresh.below(5))).collect();
        let found = pieces.iter().position(|piece| stop.push(piece));
        fresh.says("stop texts", &found);
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day1 task 3");
    let n = fresh.from_to(3, 8);
    let (mut slots, mut owned) = (Slots::new(n), Vec::new());
    for id in 0..40 {
        if fresh.below(3) == 0 && !owned.is_empty() {
            let (slot, id) = owned.swap_remove(fresh.below(owned.len()));
            slots.release(slot, id);
        } else {
            let slot = slots.claim(id);
            fresh.says("claim", &slot);
            owned.extend(slot.map(|slot| (slot, id)));
        }
        let owners: Vec<_> = (0..n).map(|slot| slots.owner(slot)).collect();
        fresh.says("owners", &owners);
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week3-day1 task 4");
    for round in 0..4 {
        let request = Request { stop_tokens: Vec::new(), ..request(&fresh) };
        let mut sequence = Sequence::new(round, request, 24);
        sequence.admit(fresh.below(9));
        let mut rows = Vec::new();
        while sequence.num_left() > 0 {
            let n = fresh.from_to(1, sequence.num_left());
            append_rows(&sequence, n, &mut rows);
            sequence.computed(n);
        }
        fresh.says("rows", &rows);
    }
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/qwen3");
    let mut engine = serving::engine(&case, fresh.from_to(2, 3), EngineOptions::default());
    let mut ids = Vec::new();
    for _ in 0..30 {
        match fresh.below(4) {
            0 => ids.push(engine.submit(request(&fresh)).expect("a good request")),
            1 if !ids.is_empty() && fresh.below(4) == 0 => {
                engine.cancel(ids[fresh.below(ids.len())]);
            }
            _ => {
                let mut events = Vec::new();
                engine.step(&mut |event| events.push(event));
                let running: Vec<_> =
                    engine.running().iter().map(|s| (s.id, s.slot, s.num_computed)).collect();
                fresh.says("a step", &(events, running, engine.num_waiting(), engine.counts()));
            }
        }
    }
}
