//! Week 3, day 5, task 2: an index of pages.

use std::collections::BTreeMap;

use tiny_llm::{
    week1::sampling::Rng,
    week3::{
        pool::{BlockPool, Page},
        prefix_hash::hash_page,
        prefix_index::PrefixCounts,
    },
};
use tiny_llm_harness::check::{self, resting_on};

use super::{BAD_HASHES, NAMES, PAGE, Shelf};

#[test]
pub(super) fn task_2_find_returns_the_longest_known_prefix() {
    let mut shelf = Shelf::new(16, hash_page);
    resting_on(&[NAMES], || {
        shelf.leave(&[1, 2, 3, 4, 5, 6]);
        shelf.leave(&[1, 2, 3, 9]);
        for (why, text, found) in [
            ("a longer text with the same start", &[1, 2, 3, 4, 5, 6, 7][..], 3),
            ("the text itself: its last token has to be computed", &[1, 2, 3, 4, 5, 6], 2),
            ("another token in the third page", &[1, 2, 3, 4, 5, 7, 8], 2),
            ("another token in the first page", &[2, 2, 3, 4, 5, 6, 7], 0),
            ("another first page, then the same page", &[7, 8, 3, 4, 5], 0),
            ("the other text", &[1, 2, 3, 9, 9], 2),
            ("less than a page", &[1], 0),
            ("no text", &[], 0),
            ("a page and a token", &[1, 2, 3], 1),
        ] {
            let expected: Vec<Vec<u32>> = (1..=found).map(|n| text[..n * PAGE].to_vec()).collect();
            check::assert_answer(
                &format!(
                    "the index has [1, 2, 3, 4, 5, 6] and [1, 2, 3, 9]: {why}, find({text:?}): the \
                     text up to the end of each page found"
                ),
                &shelf.found(text),
                &expected,
            );
        }
    });
    check::assert_answer(
        "the index has two texts of three and two pages with the same first page: (pages in the \
         index, free pages)\n ",
        &(shelf.index.len(), shelf.pool.num_free()),
        &(4, 12),
    );
}

#[test]
fn task_2_counts_asked_and_found_tokens() {
    let mut shelf = Shelf::new(16, hash_page);
    shelf.leave(&[1, 2, 3, 4, 5, 6]);
    for text in [&[1, 2, 3, 4, 9][..], &[8, 8], &[1, 2, 3, 4, 5, 6]] {
        shelf.found(text);
    }
    check::assert_answer(
        "find of texts of 5, 2 and 6 tokens, with two, no and two known pages: the counts",
        &shelf.index.counts(),
        &PrefixCounts { asked: 13, found: 8, evicted: 0 },
    );
}

/// With any hash function, a page that is found holds exactly the requested text.
#[test]
fn task_2_hash_collision_is_not_a_hit() {
    for (why, hash) in BAD_HASHES {
        let mut shelf = Shelf::new(64, hash);
        let mut rng = Rng::new(7);
        let mut below = |n: u64| (rng.next_u64() % n) as usize;
        for _ in 0..400 {
            let text: Vec<u32> = (0..below(9)).map(|_| below(3) as u32).collect();
            let found = shelf.found(&text);
            let expected: Vec<Vec<u32>> =
                (1..=found.len()).map(|n| text[..n * PAGE].to_vec()).collect();
            assert!(
                found == expected,
                "{why}: find({text:?}) returns pages of other texts: a collision counts as a hit\n \
                  found    {found:?}\n  expected {expected:?}, or only the first of these"
            );
            match below(4) {
                0 => {
                    shelf.index.evict(&mut shelf.pool);
                }
                _ => {
                    if let Some(table) = shelf.compute(&text) {
                        shelf.release(table);
                    }
                }
            }
        }
        while shelf.index.evict(&mut shelf.pool) {}
        assert_eq!(
            shelf.pool.num_free(),
            64,
            "{why}: all sequences ended and all pages were evicted: free pages of 64"
        );
    }
}

/// The hash ignores the pages before, so the second pages of two texts have the same name. Their
/// first pages have different names.
#[test]
fn task_2_find_compares_the_preceding_pages() {
    let mut shelf = Shelf::new(16, |_, tokens| hash_page(0, tokens));
    shelf.leave(&[1, 2, 8, 8]);
    shelf.leave(&[3, 4]);
    check::assert_answer(
        "a hash that ignores the pages before; the index has [1, 2, 8, 8] and [3, 4]: the texts of \
         the pages found for [3, 4, 8, 8, 9]",
        &shelf.found(&[3, 4, 8, 8, 9]),
        &vec![vec![3, 4]],
    );
}

#[test]
pub(super) fn task_2_evicts_least_recently_used_page_first() {
    let mut log = Vec::new();
    resting_on(&[NAMES], || {
        let known = |shelf: &mut Shelf| -> Vec<usize> {
            [1, 2, 3].map(|t| shelf.found(&[t, t, t, t, 0]).len()).to_vec()
        };
        // A search counts as a use, so each round begins with a new index.
        for evictions in 0..=6 {
            let mut shelf = Shelf::new(16, hash_page);
            for text in [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]] {
                shelf.leave(&text);
            }
            shelf.found(&[1, 1, 1, 1, 0]);
            let all: Vec<bool> =
                (0..evictions).map(|_| shelf.index.evict(&mut shelf.pool)).collect();
            log.push((all.iter().all(|x| *x), shelf.pool.num_free(), known(&mut shelf)));
        }
    });
    check::assert_answer(
        "texts 1, 2 and 3 have two pages each, and text 1 was found again. After 0 to 6 evictions: \
         (whether each evict found a page, free pages of 16, pages left of each text, from its \
         first on)",
        &log,
        &vec![
            (true, 10, vec![2, 2, 2]),
            (true, 11, vec![2, 1, 2]),
            (true, 12, vec![2, 0, 2]),
            (true, 13, vec![2, 0, 1]),
            (true, 14, vec![2, 0, 0]),
            (true, 15, vec![1, 0, 0]),
            (true, 16, vec![0, 0, 0]),
        ],
    );
    check::assert_answer(
        "evict from an empty index",
        &Shelf::new(4, hash_page).index.evict(&mut BlockPool::new(4)),
        &false,
    );
}

/// After one page of a long text is evicted, most of the text is still found.
#[test]
fn task_2_find_returns_the_rest_after_one_eviction() {
    let text: Vec<u32> = (0..12).collect();
    for (how, again) in [("once", false), ("twice, with another text in between", true)] {
        let mut shelf = Shelf::new(16, hash_page);
        resting_on(&[NAMES], || {
            shelf.leave(&text);
            if again {
                shelf.leave(&[50, 51]);
                shelf.leave(&text);
                shelf.index.evict(&mut shelf.pool);
            }
            shelf.index.evict(&mut shelf.pool);
        });
        check::assert_answer(
            &format!(
                "a text of six pages was inserted {how}, then one of its pages was evicted: number \
                 of pages found"
            ),
            &shelf.found(&[&text[..], &[99]].concat()).len(),
            &5,
        );
    }
}

#[test]
pub(super) fn task_2_evict_spares_pages_owned_by_a_sequence() {
    let mut shelf = Shelf::new(8, hash_page);
    resting_on(&[NAMES], || {
        let used = shelf
            .compute(&[1, 1, 1, 1])
            .expect("allocate must return a page, because enough are free");
        shelf.leave(&[2, 2]);
        let first = shelf.index.evict(&mut shelf.pool);
        let second = shelf.index.evict(&mut shelf.pool);
        check::assert_answer(
            "a sequence owns the pages of [1, 1, 1, 1], and only the index owns that of [2, 2]: \
             (first evict, second evict, pages left of each text)",
            &(first, second, shelf.found(&[1, 1, 1, 1, 0]).len(), shelf.found(&[2, 2, 0]).len()),
            &(true, false, 2, 0),
        );
        shelf.release(used);
        check::assert_answer(
            "the sequence released its pages: results of three more evictions\n ",
            &[0; 3].map(|_| shelf.index.evict(&mut shelf.pool)),
            &[true, true, false],
        );
    });
    check::assert_answer("free pages of 8 at the end", &shelf.pool.num_free(), &8);
    check::assert_answer("evictions that found a page", &shelf.index.counts().evicted, &3);
}

/// A sequence that computes a text again has its own pages. The index keeps the old ones.
#[test]
fn task_2_insert_keeps_existing_pages_of_the_same_text() {
    let mut shelf = Shelf::new(8, hash_page);
    resting_on(&[NAMES], || {
        shelf.leave(&[1, 2, 3, 4]);
        shelf.leave(&[1, 2, 3, 4, 5, 6]);
    });
    check::assert_answer(
        "insert [1, 2, 3, 4], then [1, 2, 3, 4, 5, 6] in other pages: (pages in the index, free \
         pages of 8, pages found for [1, 2, 3, 4, 5, 6, 7])",
        &(shelf.index.len(), shelf.pool.num_free(), shelf.found(&[1, 2, 3, 4, 5, 6, 7]).len()),
        &(3, 5, 3),
    );
}

/// After each of 20,000 random operations, `find` returns only correct pages, and each page is free
/// or counted once for each owner.
#[test]
fn task_2_random_operations() {
    let mut shelf = Shelf::new(12, hash_page);
    let mut rng = Rng::new(11);
    let mut below = |n: u64| (rng.next_u64() % n) as usize;
    let mut tables: Vec<Vec<Page>> = Vec::new();
    for round in 0..20_000 {
        let text: Vec<u32> = (0..below(9)).map(|_| below(2) as u32).collect();
        match below(5) {
            0 | 1 => tables.extend(shelf.compute(&text)),
            2 if !tables.is_empty() => {
                let table = tables.swap_remove(below(tables.len() as u64));
                shelf.release(table);
            }
            3 => {
                let before = shelf.pool.num_free();
                let evicted = shelf.index.evict(&mut shelf.pool);
                assert_eq!(
                    shelf.pool.num_free() - before,
                    usize::from(evicted),
                    "round {round}: pages freed by evict"
                );
            }
            _ => {
                let found = shelf.found(&text);
                let whole = text.len().saturating_sub(1) / PAGE;
                assert!(
                    found.len() <= whole,
                    "round {round}: find({text:?}) returned too many pages: {found:?}"
                );
                for (i, found) in found.iter().enumerate() {
                    assert_eq!(
                        found[..],
                        text[..(i + 1) * PAGE],
                        "round {round}: page {i} of {text:?} holds another text"
                    );
                }
            }
        }
        let owned: usize = tables.iter().map(Vec::len).sum::<usize>();
        let mut handles = BTreeMap::<usize, usize>::new();
        for page in tables.iter().flatten() {
            *handles.entry(page.index()).or_default() += 1;
        }
        let shared = tables
            .iter()
            .flatten()
            .filter(|page| shelf.pool.num_owners(page) > handles[&page.index()]);
        let both = shared.map(Page::index).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(
            shelf.pool.num_free(),
            12 - handles.len() - (shelf.index.len() - both),
            "round {round}: free pages. Sequences have {owned} handles to {} pages, the index has \
             {} pages, and {both} pages are in both",
            handles.len(),
            shelf.index.len()
        );
    }
}
