//! Week 3, day 3, task 3: shared pages.

use tiny_llm::{week2::cache::KvCache, week3::room::EngineCache};
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_panics, resting_on};

use super::{
    POOL, SHAPE, append, below, cache, check_script, holds, number, numbers, pages, row, values,
};

#[test]
fn task_3_fork_copies_a_partial_page_once() {
    check_script("task_3_script/half_a_page");
}

#[test]
fn task_3_fork_shares_full_pages_without_copying() {
    check_script("task_3_script/whole_pages");
}

#[test]
fn task_3_last_of_three_forks_keeps_the_shared_page() {
    check_script("task_3_script/three_answers");
}

#[test]
fn task_3_truncate_inside_a_shared_page() {
    check_script("task_3_script/cut_into_what_is_shared");
}

#[test]
fn task_3_fork_keeps_pages_when_the_source_is_truncated() {
    check_script("task_3_script/the_first_one_leaves");
}

/// The keys and values of every layer and head are copied. Other owners keep the old ones.
#[test]
fn task_3_copy_on_write_copies_every_layer_and_head() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        assert_accepts("fork(0, 1) of 40 positions", || cache.fork(0, 1));
        assert_answer("pages copied by fork", &cache.copied(), &0);
        let prompt = vec![0; 40];
        holds("after fork(0, 1)", &cache, 1, &prompt);
        assert_accepts("a position of the fork", || append(&mut cache, 1, 1, 1));
        holds("after the fork's first position", &cache, 0, &prompt);
        holds("after the fork's first position", &cache, 1, &[&prompt[..], &[1]].concat());
        append(&mut cache, 0, 2, 3);
        append(&mut cache, 1, 1, 2);
        holds("after positions of both", &cache, 0, &[&prompt[..], &[2; 3]].concat());
        holds("after positions of both", &cache, 1, &[&prompt[..], &[1; 3]].concat());
        // Without diagnosis: many mistakes copy once too often.
        assert_eq!(cache.copied(), 1, "pages copied after both sequences wrote positions");
    });
}

/// A full page is copied up to its last position, even if a position in the middle is written.
#[test]
fn task_3_copy_on_write_in_the_middle_of_a_full_page() {
    resting_on(&[POOL], || {
        let mut cache = cache(4);
        append(&mut cache, 0, 0, 64);
        cache.fork(0, 1);
        for layer in 0..SHAPE.layers {
            let keys = row(1, layer, 40);
            let call = "position 40 of 64 shared positions, written again by the fork";
            assert_accepts(call, || cache.write(layer, 1, 40, &keys, &values(&keys)));
        }
        let (prompt, mut changed) = (vec![0; 64], vec![0; 64]);
        changed[40] = 1;
        let what = "after the fork has written position 40 of 64 again";
        holds(what, &cache, 0, &prompt);
        holds(what, &cache, 1, &changed);
    });
}

/// Reserved pages without positions are not shared.
#[test]
fn task_3_fork_does_not_share_reserved_pages() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 40);
        assert!(cache.reserve(0, 128), "reserve of four pages of six must return true");
        assert_accepts(
            "fork(0, 2) of a sequence with 40 positions and pages reserved for 128",
            || cache.fork(0, 2),
        );
        let what = "fork(0, 2) of a sequence with 40 positions and pages reserved for 128\n  \
                    (pages of each sequence, free pages)\n ";
        assert_answer(what, &pages(&cache), &(vec![vec![0, 1, 2, 3], vec![], vec![0, 1]], 2));
    });
}

#[test]
fn task_3_fork_panics_if_target_has_positions() {
    let mut cache = cache(6);
    append(&mut cache, 0, 0, 5);
    append(&mut cache, 1, 1, 5);
    assert_panics("fork(0, 1), where sequence 1 has positions", || cache.fork(0, 1));
}

/// A fork to a sequence with reserved pages would lose these pages.
#[test]
fn task_3_fork_panics_if_target_has_reserved_pages() {
    resting_on(&[POOL], || {
        let mut cache = cache(6);
        append(&mut cache, 0, 0, 5);
        assert!(cache.reserve(1, 40), "reserve of two pages of six must return true");
        assert_panics("fork(0, 1), where sequence 1 has reserved pages, but no positions", || {
            cache.fork(0, 1);
        });
    });
}

/// `reserve` also counts the page that a copy will need.
#[test]
fn task_3_reserve_counts_the_copy() {
    resting_on(&[POOL], || {
        let mut cache = cache(3);
        append(&mut cache, 0, 0, 40);
        cache.fork(0, 1);
        append(&mut cache, 2, 2, 32);
        // Sequence, length, whether there is room, and the number of free pages then.
        for (sequence, len, room, free) in
            [(1, 41, false, 0), (0, 41, false, 0), (1, 40, true, 0), (2, 33, false, 0)]
        {
            let call = format!(
                "sequences 0 and 1 share 40 positions in two of three pages, and sequence 2 has \
                 the third page: reserve({sequence}, {len})"
            );
            let found = assert_accepts(&call, || cache.reserve(sequence, len));
            assert_answer(&call, &(found, cache.pool().num_free()), &(room, free));
        }
        assert_panics("write to a shared page when no page is free for the copy", || {
            append(&mut cache, 1, 1, 1);
        });
    });
    resting_on(&[POOL], || {
        let mut cache = cache(4);
        append(&mut cache, 0, 0, 40);
        cache.fork(0, 1);
        let call = "sequences 0 and 1 share 40 positions in two of four pages: reserve(1, 65)";
        let found = assert_accepts(call, || cache.reserve(1, 65));
        assert_answer(
            call,
            &(found, pages(&cache)),
            &(true, (vec![vec![0, 1], vec![0, 2, 3], vec![]], 0)),
        );
        append(&mut cache, 1, 1, 25);
        assert_answer("pages copied after reserved positions were written", &cache.copied(), &1);
    });
}

/// After any operations, each sequence holds what was written, and no page is lost or allocated
/// twice.
#[test]
fn task_3_random_operations() {
    resting_on(&[POOL], || {
        let (mut cache, mut below) = (cache(20), below(7));
        let mut texts: [Vec<usize>; 3] = Default::default();
        for done in 0..4000 {
            let (a, b) = (below(3), below(3));
            let call = format!("operation {done}");
            match below(8) {
                0 if a != b => {
                    cache.truncate(b, 0);
                    assert_accepts(&call, || cache.fork(a, b));
                    texts[b] = texts[a].clone();
                }
                1 | 2 => {
                    let len = below(texts[a].len() + 1);
                    cache.truncate(a, len);
                    texts[a].truncate(len);
                }
                _ => {
                    let n = 1 + below(30);
                    let len = (texts[a].len() + n).min(SHAPE.capacity);
                    if assert_accepts(&call, || cache.reserve(a, len)) {
                        let n = len - texts[a].len();
                        assert_accepts(&call, || append(&mut cache, a, 1 + done % 200, n));
                        texts[a].resize(len, 1 + done % 200);
                    }
                }
            }
            // Each page is free, or counted once for each owner.
            let mut owners = [0; 20];
            (0..3).flat_map(|s| cache.table(s)).for_each(|page| owners[page.index()] += 1);
            let free = owners.iter().filter(|count| **count == 0).count();
            assert_eq!(
                cache.pool().num_free(),
                free,
                "operation {done}: free pages; (pages of each sequence, free pages) is {:?}",
                pages(&cache)
            );
            for page in (0..3).flat_map(|s| cache.table(s)) {
                assert_eq!(
                    cache.pool().num_owners(page),
                    owners[page.index()],
                    "operation {done}: owners of page {}; (pages of each sequence, free pages) is \
                     {:?}",
                    page.index(),
                    pages(&cache)
                );
            }
            for (sequence, texts) in texts.iter().enumerate() {
                let (layer, head) = (below(SHAPE.layers), below(SHAPE.kv_heads));
                let runs = cache.runs(layer, sequence, head, 0..texts.len());
                let found: Vec<f32> = runs.flat_map(|run| numbers(run.keys)).collect();
                let first = |p: usize| number(texts[p], layer, head, p, 0);
                let wrong = (0..texts.len()).find(|p| found[SHAPE.head_dim * p] != first(*p));
                if let Some(position) = wrong {
                    panic!(
                        "operation {done}: sequence {sequence}, layer {layer}, head {head}: \
                         position {position} does not hold what was written there"
                    );
                }
            }
        }
    });
}
