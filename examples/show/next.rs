//! Day 5: the next word that your model expects after each word of a text.

use std::path::Path;

use ndarray::Array2;
use tiny_llm::week1::{attention::softmax, weights::load_model};
use tiny_llm_harness::fixtures::Fixtures;

/// Prints the most probable next token at each position of a text, and five at its end.
pub(crate) fn show() {
    let case = Fixtures::open("show").case("day4/last_mlp");
    let vocabulary = case.value("vocabulary");
    let word = |token: usize| vocabulary[token].as_str().unwrap_or("?").replace('\n', "↵");
    let tokens: Vec<u32> = case
        .value("tokens")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|token| u32::try_from(token.as_u64()?).ok())
        .collect();

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    let model = load_model(&folder).unwrap_or_else(|error| panic!("{error:#}"));
    let n = tokens.len();
    let row = Array2::from_shape_vec((1, n), tokens.clone()).expect("one row of n tokens");
    let p = softmax(&model.forward(&row));
    let likeliest = |place: usize| {
        let mut order: Vec<usize> = (0..p.shape()[2]).collect();
        order.sort_by(|&a, &b| p[[0, place, b]].total_cmp(&p[[0, place, a]]));
        order
    };
    println!("{:>10}   what your model expects next\n", "read");
    for place in 0..n {
        let best = likeliest(place)[0];
        let came = tokens.get(place + 1).is_some_and(|&token| token as usize == best);
        let share = p[[0, place, best]] * 100.0;
        let verdict = if came { "✓" } else { "" };
        let (read, next) = (word(tokens[place] as usize), word(best));
        println!("{read:>10}   {next:<10} {share:>5.1} %  {verdict}");
    }
    println!("\nThe five likeliest after the last word:");
    for &token in &likeliest(n - 1)[..5] {
        println!("  {:>5.1} %  {}", p[[0, n - 1, token]] * 100.0, word(token));
    }
}
