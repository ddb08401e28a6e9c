//! Week 3, day 4, task 2: a page is read once.

use std::ops::Range;

use tiny_llm::{
    week2::rows::Row,
    week3::reader::{Desk, Pages, arrange, read_pages},
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, resting_on},
    fixtures::random,
};

use super::{Held, READ, check_pages, row, tables, values};

/// Name, page tables of the sequences (pages of 32), and rows as (sequence, position).
type Shared = (&'static str, &'static [&'static [usize]], &'static [(usize, usize)]);

const SHARED: [Shared; 6] = [
    ("one row", &[&[3]], &[(0, 5)]),
    ("no shared pages", &[&[3, 1], &[2], &[0]], &[(2, 5), (0, 40), (1, 9)]),
    (
        "two rows that share a page, with an unrelated row between them",
        &[&[0, 1], &[2, 3], &[0, 4]],
        &[(0, 40), (1, 40), (2, 40)],
    ),
    (
        "two pairs that share one page, and each pair shares a second page",
        &[&[0, 1, 2], &[0, 4, 5], &[0, 1, 3], &[0, 4, 6]],
        &[(0, 90), (1, 90), (2, 90), (3, 90)],
    ),
    (
        "three rows of a prompt, an unrelated row, and two more rows of the prompt",
        &[&[5, 6], &[1, 2]],
        &[(0, 30), (0, 31), (0, 32), (1, 33), (0, 33), (0, 34)],
    ),
    (
        "two rows that see different numbers of shared pages",
        &[&[7, 2, 3], &[1], &[7, 2, 4]],
        &[(0, 20), (1, 3), (2, 80)],
    ),
];

#[test]
fn task_2_arrange_groups_rows_that_share_pages() {
    for (why, table, at) in SHARED {
        let cache = tables(table);
        let rows: Vec<Row> =
            at.iter().map(|&(sequence, position)| row(sequence, position)).collect();
        let call = format!("{why}: tables {table:?}, rows (sequence, position) {at:?}");
        // Left by an earlier pass.
        let mut order = vec![0, 0];
        assert_accepts(&call, || arrange(&cache, &rows, &mut order));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(
            sorted.iter().copied().eq(0..rows.len()),
            "{call}: the order is {order:?}; expected each row's index once"
        );
        for i in 0..3 {
            // The names of page `i` of all rows that see it. Equal names must be next to each
            // other.
            let seen = order.iter().filter(|t| rows[**t].position / 32 >= i);
            let names: Vec<usize> = seen.map(|&t| cache.page_name(rows[t].sequence, i)).collect();
            let stretches = names.chunk_by(|a, b| a == b).count();
            let mut different = names.clone();
            different.sort_unstable();
            different.dedup();
            assert!(
                stretches == different.len(),
                "{call}: the order is {order:?}. In this order, page {i} of the rows that see it \
                 is {names:?}; rows with the same page must be neighbours"
            );
        }
    }
}

#[test]
fn task_2_read_pages_stored_out_of_order() {
    check_pages("one_text");
}

#[test]
fn task_2_read_pages_for_rows_of_one_prompt() {
    check_pages("a_prompt");
}

#[test]
fn task_2_read_pages_for_answers_to_one_prompt() {
    check_pages("shared");
}

#[test]
fn task_2_read_pages_shared_by_all_and_by_some() {
    check_pages("shared_then_not");
}

/// Requested positions, those that two rows may see, and the pages and positions read.
type Asked = (Range<usize>, [Range<usize>; 2], (usize, usize));

/// Only requested positions that a reader may see are read, each page from the start of a tile.
#[test]
fn task_2_read_pages_reads_only_visible_positions() {
    resting_on(&[READ], || {
        let cache = tables(&[&[2, 0, 1, 3], &[2, 0, 4]]);
        let q = values(&random(5, &[2 * 8]));
        let cases: [Asked; 7] = [
            (0..128, [0..40, 0..33], (2, 40)),
            (32..64, [0..128, 0..96], (1, 32)),
            (64..128, [0..128, 0..96], (3, 96)),
            (0..128, [0..10, 0..64], (2, 64)),
            (0..128, [40..90, 50..70], (3, 32 + 26 + 6)),
            (64..128, [0..64, 0..70], (1, 6)),
            (0..80, [0..128, 0..96], (4, 96)),
        ];
        for (asked, seen, expected) in cases {
            let call =
                format!("read_pages of positions {asked:?} for two rows that may see {seen:?}");
            let mut held = Held::new(2, 8);
            let seen: Vec<_> = seen.into_iter().enumerate().collect();
            let mut readers = held.readers(&q, &seen, 1, 8);
            let mut desk = Box::new(Desk::default());
            assert_accepts(&call, || {
                read_pages(&cache, (0, 0), asked.clone(), &mut readers, 0.3, &mut desk);
            });
            let what = format!("{call}, sharing two pages of 32: pages and positions read");
            assert_answer(&what, &cache.reads(), &expected);
        }
    });
}
