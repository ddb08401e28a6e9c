//! Week 3, day 3, task 4: when pages run out.

use std::sync::Arc;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::vector::TILE,
    },
    week3::{
        engine::{Engine, Event},
        options::EngineOptions,
        paged::PagedCache,
        request::RequestId,
    },
};
use tiny_llm_harness::check::{Part, assert_accepts, assert_answer, resting_on};

use super::{
    POOL, model, plan, requests, run, run_with,
    task_2::{
        task_2_logits_match_the_dense_cache, task_2_reserve_allocates_only_missing_pages,
        task_2_truncate_at_page_boundary, task_2_truncated_pages_are_reused,
    },
};

const CACHE: &Part = &Part { task: "week3-day3 task 2", what: "the cache", check: check_cache };

fn check_cache() {
    task_2_truncate_at_page_boundary();
    task_2_truncated_pages_are_reused();
    task_2_reserve_allocates_only_missing_pages();
    task_2_logits_match_the_dense_cache();
}

/// With any number of pages, the answers are those of a cache that has room for all requests.
#[test]
fn task_4_preemption_does_not_change_answers() {
    resting_on(&[POOL, CACHE], over_few_pages);
}

fn over_few_pages() {
    let model = model();
    let shape = CacheShape::of(&model.config, 4, 128);
    let (expected, _) = run("over the dense cache", &model, DenseCache::new(shape, CacheType::F16));
    let rows = expected.rows;
    for count in [11, 8, 6, 4, 3] {
        let what =
            format!("four requests of 80, 93, 70 and 65 positions over {count} pages of {TILE}");
        let cache = PagedCache::new(shape, TILE, count, CacheType::F16);
        let (came, engine) = run(&what, &model, cache);
        for id in 0..4 {
            assert_answer(
                &format!("{what}: the answer of request {id}"),
                &came.answers.get(&id),
                &expected.answers.get(&id),
            );
        }
        assert_eq!(engine.cache().pool().num_free(), count, "{what}: free pages at the end");
        if count == 11 {
            let found = (came.preempted, came.rows);
            assert_eq!(found, (0, rows), "{what}: all requests fit; (preempted, rows)");
        } else {
            assert!(
                came.preempted > 0,
                "{what}: no request was preempted, but the pages are too few for all of them"
            );
            assert!(
                came.rows > rows,
                "{what}: found {} rows in all steps, expected more than {rows}, because preempted \
                 requests are computed again",
                came.rows
            );
        }
    }
}

/// With a budget of rows, a preempted request computes its tokens again in pieces, next to the
/// running requests. Its record contains the wait.
#[test]
fn task_4_preemption_under_a_budget() {
    resting_on(&[POOL, CACHE], under_a_budget);
}

fn under_a_budget() {
    let model = model();
    let shape = CacheShape::of(&model.config, 4, 128);
    let (expected, _) = run("over the dense cache", &model, DenseCache::new(shape, CacheType::F16));
    for (count, budget) in [(8, 24), (6, 5), (4, 24), (4, 5), (3, 2)] {
        let what =
            format!("four requests over {count} pages of {TILE}, at most {budget} rows a step");
        let cache = PagedCache::new(shape, TILE, count, CacheType::F16);
        let options =
            EngineOptions { budget: Some(budget), records: true, ..EngineOptions::default() };
        let (came, mut engine) = run_with(&what, &model, cache, options);
        for id in 0..4 {
            assert_answer(
                &format!("{what}: the answer of request {id}"),
                &came.answers.get(&id),
                &expected.answers.get(&id),
            );
        }
        assert!(
            came.preempted > 0,
            "{what}: no request was preempted, but the pages are too few for all of them"
        );
        assert!(
            came.rows > expected.rows,
            "{what}: found {} rows in all steps, expected more than {}, because preempted requests \
             are computed again",
            came.rows,
            expected.rows
        );
        let most = engine.counts().most_rows;
        assert!(most <= budget, "{what}: a step had {most} rows, expected at most {budget}");
        assert_eq!(engine.cache().pool().num_free(), count, "{what}: free pages at the end");
        let gaps = |id: RequestId| came.gaps.get(&id).map(|gap| gap.longest);
        for (id, record) in engine.take_records().into_iter().filter(|(id, _)| *id < 4) {
            assert_answer(
                &format!("{what}: the longest gap of request {id}, in rows"),
                &Some(record.longest_gap.rows),
                &gaps(id),
            );
        }
    }
}

/// A request that is cancelled after preemption is reported once and keeps no pages.
#[test]
fn task_4_cancel_after_preemption() {
    resting_on(&[POOL, CACHE], || {
        let model = model();
        let cache = PagedCache::new(CacheShape::of(&model.config, 4, 128), TILE, 4, CacheType::F16);
        let options = EngineOptions::default();
        let bytes = Box::new(|_| Vec::new());
        let mut engine = Engine::new(model, Arc::new(plan()), cache, options, bytes);
        for request in requests() {
            engine.submit(request).expect("submit must accept this request");
        }
        let mut ended = Vec::new();
        for step in 0..400 {
            if step == 30 {
                assert!(
                    engine.counts().preempted > 0,
                    "no request was preempted in 30 steps, but four pages are too few for all of \
                     them"
                );
                for id in 1..4 {
                    assert!(
                        engine.cancel(id),
                        "cancel({id}) must return true: the request is not finished after 30 steps"
                    );
                }
            }
            assert_accepts("four requests over four pages, three of them cancelled", || {
                engine.step(&mut |event| {
                    if let Event::Finished { id, .. } = event {
                        ended.push(id);
                    }
                });
            });
        }
        ended.sort_unstable();
        assert_answer(
            "four requests over four pages, three of them cancelled: requests reported as finished",
            &ended,
            &vec![0, 1, 2, 3],
        );
        assert_answer(
            "four requests over four pages, three of them cancelled: free pages at the end",
            &engine.cache().pool().num_free(),
            &4,
        );
    });
}
