//! Week 3, day 5, task 2: pages of one text count as used one after the other.

use tiny_llm::week3::prefix_hash::hash_page;
use tiny_llm_harness::check::resting_on;

use super::{NAMES, PAGE, Shelf};

/// A text grows page by page. Each time, one more page enters the index, and all of its pages are
/// marked as used. So the last page is evicted first, and the rest can still be found.
#[test]
fn task_2_evicts_last_page_of_a_growing_text_first() {
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
                "a text grew from {} pages to {n}: the index took {} new pages, expected 1",
                n - 1,
                new.len()
            );
            came.extend(new);
        }
    });
    let mut left = came.clone();
    while let Some(last) = left.pop() {
        assert!(
            shelf.index.evict(&mut shelf.pool),
            "evict must return true: only the index owns the remaining {} pages",
            left.len() + 1
        );
        let there: Vec<usize> =
            came.iter().copied().filter(|&p| shelf.pool.num_owners_of(p) > 0).collect();
        assert!(
            there == left,
            "the index got the nine pages {came:?} of one text one by one, without a find. After \
             {} evictions, pages {there:?} are left, expected {left:?}. Evict the text's last page \
             first, here page {last}",
            PAGES - left.len()
        );
    }
}
