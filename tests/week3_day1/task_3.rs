//! Week 3, day 1, task 3: slots of the cache.

use tiny_llm::week3::{request::RequestId, slots::Slots};
use tiny_llm_harness::check;

#[test]
fn task_3_claim_takes_lowest_free_slot() {
    let mut slots = Slots::new(3);
    let mut log = Vec::new();
    let mut claim = |slots: &mut Slots, id: RequestId, expected: Option<usize>| {
        let call = format!("three slots, after {log:?}: claim({id})");
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
    check::assert_answer("two of three slots released: free slots", &slots.num_free(), &2);
    let mut log = vec!["0, 1, 2 claimed, 2 and 0 released"];
    let mut claim = |slots: &mut Slots, id: RequestId, expected: Option<usize>| {
        let call = format!("three slots, after {log:?}: claim({id})");
        let found = check::assert_accepts(&call, || slots.claim(id));
        check::assert_answer(&call, &found, &expected);
        log.push("claimed again");
    };
    claim(&mut slots, 14, Some(0));
    claim(&mut slots, 15, Some(2));
    let owners: Vec<_> = (0..3).map(|slot| slots.owner(slot)).collect();
    check::assert_answer(
        "two of three slots released and claimed again: the owner of each slot",
        &owners,
        &vec![Some(14), Some(11), Some(15)],
    );
}

#[test]
fn task_3_release_panics_on_wrong_owner_or_slot() {
    let claimed = || {
        let mut slots = Slots::new(2);
        slots.claim(5);
        slots.claim(6);
        slots
    };
    check::assert_accepts("release(1, 6) by the owner", || claimed().release(1, 6));
    check::assert_panics("release(1, 5), but the slot belongs to request 6", || {
        claimed().release(1, 5);
    });
    check::assert_panics("release(1, 6) a second time", || {
        let mut slots = claimed();
        slots.release(1, 6);
        slots.release(1, 6);
    });
    check::assert_panics("release(2, 5) of two slots", || claimed().release(2, 5));
}
