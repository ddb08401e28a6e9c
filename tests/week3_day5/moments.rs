//! Week 3, day 5, task 2: pages that follow each other are used one after the other.

use tiny_llm::week3::prefix_hash::hash_page;
use tiny_llm_harness::check::resting_on;

use super::{NAMES, PAGE, Shelf};

/// A text that grows page by page: the index takes one page more each time and marks all of them, so
/// that the last one goes first, and what is left can be found.
#[test]
fn task_2_each_page_has_its_moment() {
    const PAGES: usize = 9;
    let text: Vec<u32> = (0..(PAGES * PAGE) as u32).collect();
    let mut shelf = Shelf::new(2 * PAGES, hash_page);
    let mut came: Vec<usize> = Vec::new();
    resting_on(&[NAMES], || {
        for n in 1..=PAGES {
            shelf.leave(&text[..n * PAGE]);
            let owned = |i: &usize| shelf.pool.num_owners_of(*i) == 1;
            let new: Vec<usize> =
                (0..2 * PAGES).filter(owned).filter(|i| !came.contains(i)).collect();
            assert!(
                new.len() == 1,
                "a text that had {} pages has {n}: the index takes {}, expected 1",
                n - 1,
                new.len()
            );
            came.extend(new);
        }
    });
    let mut left = came.clone();
    while let Some(last) = left.pop() {
        assert!(shelf.index.evict(&mut shelf.pool), "{} pages are nobody's", left.len() + 1);
        let there: Vec<usize> =
            came.iter().copied().filter(|&p| shelf.pool.num_owners_of(p) > 0).collect();
        assert!(
            there == left,
            "nine pages of one text came one after the other, {came:?}, and were not looked for: \
             after {} evictions {there:?} are left, expected {left:?}, without page {last}: the \
             text's last page goes first",
            PAGES - left.len()
        );
    }
}
