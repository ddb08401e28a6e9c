//! Graphs that nobody would build, from bytes that nobody has chosen. A fuzzer looks for more
//! (`fuzz/fuzz_targets/graph.rs`).

#[path = "../parts/any_graph.rs"]
mod any_graph;

use any_graph::any_graph;

#[test]
fn whatever_bytes_describe_is_refused_or_comes_to_the_same_in_an_arena() {
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
    println!("of {} pairs of plans {peaks:?}", planned / 2);
    assert!(peaks[0] > 0 && peaks[1] > 0, "one of the two plans is never the smaller: {peaks:?}");
    println!("{unfit} do not fit their step; {views} views of weights, {cached} times a cache");
    assert!(unfit > 50 && views > 50 && cached > 10, "{unfit} {views} {cached}");
    assert!(refused > 4000 && planned > 4000 && computed > 1000, "{refused} {planned} {computed}");
}
