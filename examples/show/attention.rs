//! Day 1: which words one trained head attends to, computed by your attention.

use ndarray::Array2;
use tiny_llm::week1::attention::scaled_dot_product_attention;
use tiny_llm_harness::fixtures::Fixtures;

/// Characters for shares of attention, from none to all.
const SHADES: [&str; 6] = ["  ", "░░", "▒▒", "▓▓", "██", "██"];

/// Draws the map, one row per word.
pub(crate) fn show() {
    let case = Fixtures::open("show").case("day1/attention");
    let words = case.value("words");
    let words: Vec<&str> =
        words.as_array().into_iter().flatten().filter_map(|word| word.as_str()).collect();
    let n = words.len();
    let (q, k) = (case.tensor("q"), case.tensor("k"));
    // A word attends to itself and to earlier words. If the values are the identity matrix, the
    // output of attention is its weights.
    let hidden = |(i, j)| if j > i { f32::NEG_INFINITY } else { 0.0 };
    let mask = Array2::from_shape_fn((n, n), hidden).into_dyn();
    let weights =
        scaled_dot_product_attention(&q, &k, &Array2::eye(n).into_dyn(), None, Some(&mask));

    println!("Each row is a word, each column a word that it may look at; the darker, the more.\n");
    for (i, word) in words.iter().enumerate() {
        print!("{word:>9} ");
        for j in 0..=i {
            let share = weights[[i, j]].clamp(0.0, 1.0);
            print!("{}", SHADES[(share * 5.0).round() as usize]);
        }
        let (best, share) = (0..=i)
            .map(|j| (j, weights[[i, j]]))
            .fold((0, f32::NEG_INFINITY), |a, b| if b.1 > a.1 { b } else { a });
        println!("  {} ({:.0} %)", words[best], share * 100.0);
    }
    println!("\nBehind each row: the word that gets most of its attention.");
}
