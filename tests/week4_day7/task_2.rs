//! Week 4, day 7, task 2: a budget.

use tiny_llm_harness::check::PanicReport;

use super::*;

#[test]
pub(super) fn task_2_take_returns_aligned_zeroed_parts() {
    let memory = memory(100);
    let start = memory.as_ptr() as usize;
    let ledger = Ledger::default();
    let mut arena = Arena::new(memory, &ledger);
    let bytes = arena.take::<u8>("bytes", 3).expect("take must return 3 of 100 bytes");
    let floats = check::assert_returns(
        "take 5 f32 after 3 bytes",
        || arena.take::<f32>("floats", 5).expect("take must return 20 of 97 bytes"),
        |panic| {
            panic.message().contains("InputNotAligned").then(|| PanicReport {
                diagnosis: Some(
                    "You start the values where the previous ones end. Skip bytes up to the next \
                    address that is a multiple of the type's alignment.",
                ),
                ..PanicReport::default()
            })
        },
    );
    let longs = arena.take::<i64>("longs", 2).expect("take must return 16 of 76 bytes");
    let last = arena.take::<i8>("the rest", 60).expect("take must return 60 of 60 bytes");
    let place = |address: usize| address - start;
    check::assert_answer(
        "the offsets of 3 bytes, 5 f32, 2 i64 and 60 i8 in 100 bytes",
        &[
            place(bytes.as_ptr() as usize),
            place(floats.as_ptr() as usize),
            place(longs.as_ptr() as usize),
            place(last.as_ptr() as usize),
        ],
        &[0, 4, 24, 40],
    );
    check::assert_answer(
        "bytes left of 100 after 3 bytes, 5 f32, 2 i64 and 60 i8",
        &arena.free(),
        &0,
    );
    check::assert_answer(
        "take of 3 bytes, 5 f32, 2 i64 and 60 i8: the lengths",
        &[bytes.len(), floats.len(), longs.len(), last.len()],
        &[3, 5, 2, 60],
    );
    let zero = bytes.iter().all(|x| *x == 0)
        && floats.iter().all(|x| *x == 0.0)
        && longs.iter().all(|x| *x == 0)
        && last.iter().all(|x| *x == 0);
    assert!(zero, "`take` must return zeros, whatever was there before");
    // The returned parts must not overlap.
    bytes.fill(1);
    floats.fill(2.0);
    longs.fill(3);
    last.fill(4);
    check::assert_answer(
        "the last number of each part, after each part was filled with a different number",
        &(bytes[2], floats[4], longs[1], last[59]),
        &(1, 2.0, 3, 4),
    );
    check::assert_answer("the peak after 3 bytes, 5 f32, 2 i64 and 60 i8", &ledger.peak(), &100);
    let parts: Vec<_> = ledger.parts().into_iter().take(5).map(|p| (p.what, p.bytes)).collect();
    check::assert_answer(
        "the ledger: (name, bytes with alignment) of each part",
        &parts,
        &vec![("bytes", 3), ("floats", 21), ("longs", 16), ("the rest", 60), ("", 0)],
    );
}

/// A pair of f32 has the alignment of one f32.
#[test]
fn task_2_take_uses_the_alignment_of_the_type() {
    let (mut arena, _) = arena_of(24);
    arena.take::<u8>("a byte", 1).expect("take must return 1 of 24 bytes");
    let pairs = check::assert_accepts("take two pairs of f32 after a byte", || {
        arena.take::<[f32; 2]>("pairs", 2)
    });
    let pairs = pairs.unwrap_or_else(|error| refused("two pairs of f32", &error)).to_vec();
    check::assert_answer(
        "take of two pairs of f32 after a byte: the values",
        &pairs,
        &vec![[0.0; 2]; 2],
    );
    check::assert_answer(
        "bytes left of 24 after 1 byte, 3 for alignment, and 16",
        &arena.free(),
        &4,
    );
}

#[test]
fn task_2_take_error_names_the_sizes_and_the_caller() {
    let (mut arena, ledger) = arena_of(62);
    arena.take::<u8>("first", 41).expect("take must return 41 of 62 bytes");
    let mut line = 0;
    let found = check::assert_refuses("take 16 bytes, and 7 for alignment, of 21", || {
        line = line!() + 1;
        arena.take::<u64>("second", 2).map(|x| x.len())
    });
    match found.expect_err("take must fail, because it needs 16 + 7 of 21 bytes") {
        Error::Full { what, wanted, free, budget, at } => {
            check::assert_answer(
                "the error: (what, bytes wanted with alignment, bytes free, budget)",
                &(what, wanted, free, budget),
                &("second", 23, 21, 62),
            );
            let place = (at.file().ends_with("task_2.rs"), at.line());
            check::assert_answer(
                "the error must name the file and line of the call (`#[track_caller]`)",
                &place,
                &(true, line),
            );
            let text = Error::Full { what, wanted, free, budget, at }.to_string();
            assert!(
                text.contains(&format!("task_2.rs:{line}: \"second\" needs 23")),
                "the error's text must contain `task_2.rs:{line}: \"second\" needs 23`, but it is \
                 {text:?}"
            );
        }
        other => panic!(
            "take of 16 bytes, and 7 for alignment, of 21: found {other:?}, expected Error::Full"
        ),
    }
    // A failed call must not change anything.
    check::assert_answer("bytes left after an error", &arena.free(), &21);
    check::assert_answer("the peak after an error", &ledger.peak(), &41);
    assert!(arena.take::<u8>("too much", 22).is_err(), "take of 22 bytes of 21 must fail");
    arena.take::<u8>("just enough", 21).expect("take must return 21 of 21 bytes");
    check::assert_answer("bytes left of 62 after 41 and 21", &arena.free(), &0);
}

#[test]
fn task_2_take_returns_an_error_on_size_overflow() {
    let (mut arena, _) = arena_of(64);
    for n in [usize::MAX, usize::MAX / 4 + 1, usize::MAX / 2, 1 << (usize::BITS - 2)] {
        let call = format!("take::<f32>({n}) of 64 bytes");
        let place = "(take is #[track_caller], so Rust names the line that called it)";
        let found = check::assert_refuses(&format!("{call} {place}"), || {
            arena.take::<f32>("all", n).map(|x| x.len())
        });
        assert!(
            matches!(found, Err(Error::Full { .. })),
            "{call}: found {found:?}, expected Error::Full"
        );
    }
    check::assert_answer("bytes left of 64 after refused requests", &arena.free(), &64);
}

#[test]
pub(super) fn task_2_scope_releases_its_memory_when_dropped() {
    let (mut arena, ledger) = arena_of(200);
    let kept = arena.take::<u8>("kept", 50).expect("take must return 50 of 200 bytes");
    kept.fill(9);
    for round in 0..3 {
        let mut scope = arena.scope();
        check::assert_answer(
            "bytes left of 200 at the start of a scope, after 50 were taken",
            &scope.free(),
            &150,
        );
        let x = scope.take::<u8>("outer", 60).expect("take must return 60 of 150 bytes");
        assert!(
            x.iter().all(|x| *x == 0),
            "round {round}: take returned memory that is not zero, which an earlier scope had \
             written"
        );
        x.fill(7);
        {
            let mut inner = scope.scope();
            inner
                .take::<u8>("inner", 70 + round)
                .expect("take must succeed: at most 72 of 90 bytes are requested")
                .fill(8);
        }
        let y = scope.take::<u8>("behind", 40).expect("take must return 40 of 90 bytes");
        assert!(
            y.iter().all(|y| *y == 0),
            "round {round}: take returned memory that is not zero, which the inner scope had \
             written"
        );
        assert!(
            x.iter().all(|x| *x == 7),
            "the inner scope must not overwrite memory of the outer scope, but did"
        );
    }
    check::assert_answer(
        "bytes left of 200 after the scopes ended, 50 of them taken before",
        &arena.free(),
        &150,
    );
    check::assert_answer("the peak: kept, outer and the largest inner part", &ledger.peak(), &182);
    assert!(
        kept.iter().all(|x| *x == 9),
        "a scope must not overwrite memory that was taken before it, but did"
    );
    arena.take::<u8>("all the rest", 150).expect("take must return 150 of 150 bytes");
    assert!(arena.scope().take::<u8>("one more", 1).is_err(), "take of 1 byte of 0 must fail");
}
