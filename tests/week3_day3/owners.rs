//! Week 3, day 3, task 2: the order in which pages are released, and `reserve` where pages have
//! other owners.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tiny_llm::{
    week2::{cache::KvCache, kernels::vector::TILE},
    week3::{paged::PagedCache, pool::Page, room::EngineCache},
};
use tiny_llm_harness::{
    check::{assert_accepts, resting_on},
    panics::{Panic, catch},
};

use super::{POOL, SHAPE, append, cache, number, numbers, pages, row, values};

/// The pool allocates the page that has been free longest. So the order of releases is visible.
#[test]
fn task_2_truncate_releases_pages_in_order() {
    resting_on(&[POOL], || {
        for (held, reserved, kept) in
            [(5, 5, 0), (5, 5, 1), (5, 5, 33), (3, 5, 0), (3, 5, 40), (0, 5, 0), (4, 5, 200)]
        {
            let mut cache = cache(5);
            append(&mut cache, 0, 0, held * TILE);
            let what = format!(
                "five pages: sequence 0 fills {held} and reserves {reserved}, truncate(0, {kept}), \
                 then sequence 1 reserves all free pages"
            );
            let room = assert_accepts(&what, || cache.reserve(0, reserved * TILE));
            assert!(room, "{what}: the first reserve must return true");
            assert_accepts(&what, || cache.truncate(0, kept));
            let stay = kept.min(held * TILE).div_ceil(TILE);
            let free = 5 - stay;
            assert!(
                cache.reserve(1, free * TILE),
                "{what}: reserve of the {free} free pages must return true"
            );
            let found: Vec<usize> = cache.table(1).iter().map(Page::index).collect();
            let expected: Vec<usize> = (stay..5).collect();
            assert!(
                found == expected,
                "{what}: pages are allocated in the order {found:?}, expected {expected:?}. \
                 Release the first page first, so that the next owner gets them in order"
            );
        }
    });
}

/// Makes sequence `to` an owner of the first `n` pages of `from`, as an index of pages does.
fn share(cache: &mut PagedCache, from: usize, to: usize, n: usize) {
    let (pool, table) = cache.pool_and_table(from);
    let shared = table[..n].iter().map(|page| pool.retain(page)).collect();
    cache.attach(to, shared);
}

/// Only a shared page that will be written needs a page for its copy. Nothing is copied here, so
/// task 3 is not needed. A `reserve` that copies anyway has not counted first.
#[test]
fn task_2_reserve_counts_copies_of_shared_pages() {
    resting_on(&[POOL], || {
        // Pages of the pool, positions that sequence 1 keeps of 64, argument and result of
        // `reserve`.
        for (count, kept, len, room) in [
            (2, 64, 65, false),
            (3, 64, 65, true),
            (3, 64, 96, true),
            (3, 64, 97, false),
            (4, 64, 128, true),
            (2, 64, 64, true),
            (2, 40, 40, true),
            (2, 40, 41, false),
            (2, 40, 64, false),
            (3, 40, 65, false),
            (3, 32, 65, false),
            (3, 32, 64, true),
        ] {
            let mut cache = cache(count);
            append(&mut cache, 0, 0, 64);
            share(&mut cache, 0, 1, 2);
            cache.truncate(1, kept);
            let before = pages(&cache);
            let what = format!(
                "{count} pages; sequence 0 has two full pages, and sequence 1 shares their first \
                 {kept} positions: reserve(1, {len})"
            );
            let found = catch(|| cache.reserve(1, len));
            // Task 3 may still be a `todo!`, which must not hide what is wrong here.
            let copies = |panic: &Panic| !room && panic.message().contains("copy");
            assert!(
                !found.as_ref().is_err_and(copies),
                "{what}: reserve starts copying although there is not enough room. Count new pages \
                 and copies first, then return false"
            );
            let found = assert_accepts(&what, || found.unwrap_or_else(|panic| panic.go_on()));
            assert!(found == room, "{what}: found {found}, expected {room}");
            assert_eq!(cache.copied(), 0, "{what}: pages copied, expected none");
            assert!(
                room || pages(&cache) == before,
                "{what}: reserve returned false, but the pages changed; they must stay the same"
            );
        }
        // Sequence 0 shares only its first page, which it will not write.
        let mut cache = cache(3);
        append(&mut cache, 0, 0, 64);
        share(&mut cache, 0, 1, 1);
        let found = assert_accepts("reserve(0, 96)", || cache.reserve(0, 96));
        assert!(
            found,
            "three pages; sequence 0 has two and shares the first: reserve(0, 96) must return \
             true, because the third is free"
        );
    });
}

/// Whether a write succeeds or panics, the numbers of the other owner must not change.
#[test]
fn task_2_write_never_modifies_a_shared_page() {
    resting_on(&[POOL], || {
        for position in [40, 41, 63] {
            let mut cache = cache(4);
            append(&mut cache, 0, 0, 64);
            share(&mut cache, 0, 1, 2);
            cache.truncate(1, position);
            let keys = row(1, 0, position);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                cache.write(0, 1, position, &keys, &values(&keys));
            }));
            let found: Vec<f32> =
                cache.runs(0, 0, 1, 0..64).flat_map(|run| numbers(run.keys)).collect();
            let expected: Vec<f32> = (0..64)
                .flat_map(|p| (0..SHAPE.head_dim).map(move |d| number(0, 0, 1, p, d)))
                .collect();
            let copied = if cache.copied() > 0 {
                ". `copy_page` ran before that: does it write only to the new page? A page is one \
                 piece of memory for each layer and head"
            } else {
                ""
            };
            assert!(
                found == expected,
                "sequence 1 shares two pages with sequence 0 and wrote position {position}: keys \
                 of sequence 0 changed{copied}"
            );
        }
    });
}
