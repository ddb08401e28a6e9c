//! Week 3, day 3, task 1: a pool of pages.

use tiny_llm::week3::pool::{BlockPool, Page};
use tiny_llm_harness::check::{assert_accepts, assert_answer, assert_panics};

use super::below;

/// A call to the pool. Handles are kept in a list, and a number is an index in that list.
#[derive(Debug, Clone, Copy)]
enum Act {
    Allocate,
    Retain(usize),
    Release(usize),
}

/// A pool, and all handles to its pages.
struct Lent {
    pool: BlockPool,
    handles: Vec<Page>,
}

impl Lent {
    fn new(pages: usize) -> Self {
        Self { pool: BlockPool::new(pages), handles: Vec::new() }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Allocate => self.handles.extend(self.pool.allocate()),
            Act::Retain(i) => {
                let handle = self.pool.retain(&self.handles[i]);
                self.handles.push(handle);
            }
            Act::Release(i) => {
                let handle = self.handles.remove(i);
                self.pool.release(handle);
            }
        }
    }

    /// Returns the number of free pages, and for each handle its page and the number of its owners.
    fn seen(&self) -> (usize, Vec<(usize, usize)>) {
        let owners = |page: &Page| (page.index(), self.pool.num_owners(page));
        (self.pool.num_free(), self.handles.iter().map(owners).collect())
    }
}

/// A call, the free pages after it, and for each handle its page and the number of its owners.
type Line = (Act, usize, &'static [(usize, usize)]);

#[track_caller]
fn goes(why: &str, pages: usize, script: &[Line]) {
    let (mut lent, mut done) = (Lent::new(pages), Vec::new());
    for &(act, free, handles) in script {
        let call = format!("{why}, of {pages} pages: after {done:?}, {act:?}");
        assert_accepts(&call, || lent.act(act));
        assert_answer(
            &format!("{call}\n  (free pages, then page and owners of each handle)\n "),
            &lent.seen(),
            &(free, handles.to_vec()),
        );
        done.push(act);
    }
}

#[test]
pub(super) fn task_1_allocate_returns_longest_free_page() {
    use Act::{Allocate, Release};
    goes(
        "the page that has been free longest comes first",
        3,
        &[
            (Allocate, 2, &[(0, 1)]),
            (Allocate, 1, &[(0, 1), (1, 1)]),
            (Release(0), 2, &[(1, 1)]),
            (Allocate, 1, &[(1, 1), (2, 1)]),
            (Release(0), 2, &[(2, 1)]),
            (Allocate, 1, &[(2, 1), (0, 1)]),
            (Allocate, 0, &[(2, 1), (0, 1), (1, 1)]),
            (Allocate, 0, &[(2, 1), (0, 1), (1, 1)]),
            (Release(1), 1, &[(2, 1), (1, 1)]),
            (Allocate, 0, &[(2, 1), (1, 1), (0, 1)]),
        ],
    );
}

#[test]
pub(super) fn task_1_shared_page_is_freed_by_its_last_owner() {
    use Act::{Allocate, Release, Retain};
    goes(
        "a page with up to three owners",
        2,
        &[
            (Allocate, 1, &[(0, 1)]),
            (Retain(0), 1, &[(0, 2), (0, 2)]),
            (Retain(1), 1, &[(0, 3), (0, 3), (0, 3)]),
            (Release(0), 1, &[(0, 2), (0, 2)]),
            (Allocate, 0, &[(0, 2), (0, 2), (1, 1)]),
            (Release(1), 0, &[(0, 1), (1, 1)]),
            (Retain(0), 0, &[(0, 2), (1, 1), (0, 2)]),
            (Release(0), 0, &[(1, 1), (0, 1)]),
            (Release(1), 1, &[(1, 1)]),
            (Allocate, 0, &[(1, 1), (0, 1)]),
        ],
    );
}

#[test]
pub(super) fn task_1_can_allocate_up_to_the_last_page() {
    for pages in [0, 1, 3] {
        let mut lent = Lent::new(pages);
        for taken in 0..=pages {
            let call =
                format!("{pages} pages, {taken} of them allocated: can_allocate of 0 to 5 pages");
            let found: Vec<bool> =
                assert_accepts(&call, || (0..=5).map(|n| lent.pool.can_allocate(n)).collect());
            let expected: Vec<bool> = (0..=5).map(|n| n + taken <= pages).collect();
            assert_answer(&call, &found, &expected);
            lent.act(Act::Allocate);
        }
    }
}

/// The type system prevents using a handle twice. But handles of two pools may have the same index.
#[test]
fn task_1_panics_on_handle_of_another_pool() {
    let mut other = BlockPool::new(2);
    let stranger = other.allocate().expect("allocate must return a free page");
    assert_panics("retain with another pool's handle, whose page is free here", || {
        BlockPool::new(2).retain(&stranger)
    });
    assert_panics("release of another pool's handle, whose page is free here", || {
        BlockPool::new(2).release(stranger);
    });
}

#[test]
fn task_1_million_random_operations() {
    const PAGES: usize = 40;
    let (mut lent, mut below) = (Lent::new(PAGES), below(33));
    // The number of handles of each page, counted by this test.
    let mut counts = [0; PAGES];
    for done in 0..1_000_000 {
        let (n, free) = (lent.handles.len(), lent.pool.num_free());
        // Phases of growth and of shrinking alternate, so that the pool is sometimes full or empty.
        let growing = done / 500 % 2 == 0;
        match (below(8), n) {
            (0, 1..) => {
                let i = below(n);
                counts[lent.handles[i].index()] += 1;
                lent.act(Act::Retain(i));
            }
            (choice, _) if n == 0 || (choice < 6) == growing => {
                lent.act(Act::Allocate);
                assert_eq!(
                    lent.handles.len() > n,
                    free > 0,
                    "operation {done}: {free} pages were free; whether allocate returned a page"
                );
                if let Some(page) = lent.handles.get(n) {
                    let index = page.index();
                    assert!(
                        counts[index] == 0,
                        "operation {done}: page {index} is allocated twice"
                    );
                    counts[index] = 1;
                }
            }
            _ => {
                let i = below(n);
                counts[lent.handles[i].index()] -= 1;
                lent.act(Act::Release(i));
            }
        }
        let free = counts.iter().filter(|count| **count == 0).count();
        assert_eq!(
            lent.pool.num_free(),
            free,
            "operation {done}: free pages; every page without a handle is free"
        );
        if done % 100 == 0 {
            for page in &lent.handles {
                let (found, expected) = (lent.pool.num_owners(page), counts[page.index()]);
                assert_eq!(found, expected, "operation {done}: owners of page {}", page.index());
            }
        }
    }
}
