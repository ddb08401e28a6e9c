//! Week 4, day 6, task 4: windows, and the pages that fall out of them.

use tiny_llm::{
    week3::pool::BlockPool,
    week4::mixture::windows::{PageTable, pages_out, visible},
};
use tiny_llm_harness::check::{assert_accepts, assert_answer, resting_on};

use super::{WINDOWS, each, window};

const ONE_TOO_MANY: &str = "\n  diagnosis Your window has one position too many. Start it \
    `window - 1` positions before the row's own position.";
const ONE_TOO_FEW: &str = "\n  diagnosis Your window has one position too few. Start it \
    `window - 1` positions before the row's own position.";

#[test]
pub(crate) fn task_4_visible_matches_transformers() {
    each("task_4_visible/", |case| {
        let window = window(case);
        let expected =
            case.read::<Vec<usize>>("starts").into_iter().zip(case.read::<Vec<usize>>("ends"));
        let found: Vec<_> = (0..expected.len()).map(|position| visible(position, window)).collect();
        // Whether all ranges begin as if the window had `window` positions.
        let like = |window: usize| {
            found
                .iter()
                .enumerate()
                .all(|(p, seen)| *seen == ((p + 1).saturating_sub(window)..p + 1))
        };
        let diagnosis = match window {
            Some(w) if like(w + 1) => ONE_TOO_MANY,
            Some(w) if w > 0 && like(w - 1) => ONE_TOO_FEW,
            _ => "",
        };
        for (position, (found, (start, end))) in found.iter().zip(expected).enumerate() {
            let what = format!("visible(position {position}, window {})", shown(window));
            let right = *found == (start..end);
            assert!(
                right || diagnosis.is_empty(),
                "{what}\n  found    {found:?}\n  expected {start}..{end}{diagnosis}"
            );
            assert_answer(&what, found, &(start..end));
        }
    });
}

#[test]
fn task_4_pages_out_counts_pages_no_later_row_sees() {
    each("task_4_pages/", |case| {
        let (window, page) = (window(case), case.count("page"));
        let shown = shown(window);
        let out = case.read::<Vec<usize>>("out");
        let found: Vec<usize> = (0..out.len()).map(|next| pages_out(next, window, page)).collect();
        let done = |next: usize| window.map_or(0, |window| next.saturating_sub(window)) / page;
        // If the window is already wrong, this diagnosis does not apply.
        let seen = (0..out.len()).all(|next| visible(next, window).start / page == out[next]);
        let late = seen && (0..out.len()).all(|next| found[next] == done(next));
        for (next, (found, expected)) in found.iter().zip(&out).enumerate() {
            let what = format!("pages_out(next {next}, window {shown}, pages of {page})");
            assert!(
                !late || found == expected,
                "{what}\n  found    {found}\n  expected {expected}\n  diagnosis You compute the \
                 window of the last finished row. Compute the window of the row at `next`."
            );
            assert_answer(&what, found, expected);
        }
    });
}

fn shown(window: Option<usize>) -> String {
    window.map_or("none".to_owned(), |window| window.to_string())
}

/// Decodes token by token and releases pages. At most the window's pages may be in use.
#[test]
fn task_4_slide_releases_pages_outside_the_window() {
    resting_on(&[WINDOWS], || {
        each("task_4_pages/", |case| {
            let (window, page) = (window(case), case.count("page"));
            let out = case.read::<Vec<usize>>("out");
            let mut pool = BlockPool::new(out.len() / page + 2);
            let mut table = PageTable::new(window, page);
            let mut written = Vec::new();
            for position in 0..out.len() - 1 {
                assert!(
                    table.reserve(position, &mut pool),
                    "reserve must return true for position {position}"
                );
                let what = format!("{}: position {position}", case.name());
                let last =
                    table.pages.back().expect("the table must have a page after reserve").index();
                let place = table.find(position);
                assert_answer(
                    &format!("{what}: (its page, its offset in the page)"),
                    &place,
                    &Some((last, position % page)),
                );
                table.slide(position + 1, &mut pool);
                let in_use = position / page + 1 - out[position + 1].min(position / page + 1);
                let what_is_left = format!(
                    "after position {position}: pages in use (window {}, pages of {page})",
                    shown(window)
                );
                assert_answer(&what_is_left, &(pool.num_pages() - pool.num_free()), &in_use);
                written.push(place);
                for seen in visible(position + 1, window).take_while(|&seen| seen <= position) {
                    assert_answer(
                        &format!(
                            "{what}: page and offset of position {seen}, which the next row sees"
                        ),
                        &table.find(seen),
                        &written[seen],
                    );
                }
            }
            table.clear(&mut pool);
            assert_answer("free pages after clear", &pool.num_free(), &pool.num_pages());
        });
    });
}

#[test]
fn task_4_find_returns_none_for_released_pages() {
    resting_on(&[WINDOWS], || {
        let mut pool = BlockPool::new(8);
        let mut table = PageTable::new(Some(4), 4);
        assert!(
            table.reserve(17, &mut pool),
            "reserve must return true: five of eight pages are needed"
        );
        table.slide(13, &mut pool);
        assert_answer("released pages (`gone`) after slide(13)", &table.gone, &2);
        let found: Vec<bool> =
            [0, 7, 8, 17, 20].map(|position| table.find(position).is_some()).into();
        assert_answer(
            "whether positions 0, 7, 8, 17 and 20 have a page",
            &found,
            &vec![false, false, true, true, false],
        );
        table.slide(13, &mut pool);
        assert_answer("released pages (`gone`) after slide(13) twice", &table.gone, &2);
    });
}

/// `next` may be smaller than in the call before, or beyond the pages of the table.
#[test]
fn task_4_slide_releases_each_page_once() {
    resting_on(&[WINDOWS], || {
        let mut pool = BlockPool::new(8);
        let mut table = PageTable::new(Some(4), 4);
        assert!(
            table.reserve(17, &mut pool),
            "reserve must return true: five of eight pages are needed"
        );
        let asked = [(13, 2), (9, 2), (0, 2), (12, 2), (17, 3), (13, 3), (100, 5), (101, 5)];
        for (i, &(next, gone)) in asked.iter().enumerate() {
            let before: Vec<usize> = asked[..i].iter().map(|&(next, _)| next).collect();
            let what = format!(
                "five pages of 4 positions, window 4: slide({next}) after slides to {before:?}"
            );
            assert_accepts(&what, || table.slide(next, &mut pool));
            let what = format!("{what}: (released pages, free pages)");
            assert_answer(&what, &(table.gone, pool.num_free()), &(gone, 3 + gone));
        }
        assert!(table.reserve(21, &mut pool), "reserve must return true for position 21");
        assert_answer("pages left in the table after five were released", &table.pages.len(), &1);
        let place = table.find(21).map(|(_, place)| place);
        assert_answer("the offset of position 21 in its page", &place, &Some(1));
    });
}
