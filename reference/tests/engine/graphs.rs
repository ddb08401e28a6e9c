//! Graphs from random bytes. A fuzzer tries more (`fuzz/fuzz_targets/graph.rs`).

#[path = "../parts/any_graph.rs"]
mod any_graph;

use any_graph::any_graph;

#[test]
fn any_graph_is_rejected_or_has_the_same_results_in_an_arena() {
    let (mut refused, mut planned, mut computed, mut peaks) = (0, 0, 0, [0; 3]);
    let (mut unfit, mut views, mut cached) = (0, 0, 0);
    let mut state = 11u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    for _ in 0..4000 {
        let len = random() % 200;
        let bytes: Vec<u8> = (0..len).map(|_| random() as u8).collect();
        let seen = any_graph(&bytes);
        refused += seen.refused;
        planned += seen.planned;
        computed += seen.computed;
        unfit += seen.unfit;
        views += seen.views_of_weights;
        cached += seen.cached;
        (0..3).for_each(|i| peaks[i] += seen.peaks[i]);
    }
    println!(
        "{} pairs of plans: best fit smaller, by size smaller, above the bound: {peaks:?}",
        planned / 2
    );
    assert!(peaks[0] > 0 && peaks[1] > 0, "one of the two plans is never the smaller: {peaks:?}");
    println!("{unfit} graphs do not fit their step, {views} weight views, {cached} cache reads");
    assert!(unfit > 50 && views > 50 && cached > 10, "{unfit} {views} {cached}");
    assert!(refused > 4000 && planned > 4000 && computed > 1000, "{refused} {planned} {computed}");
}
