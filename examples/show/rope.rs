//! Day 2: the rotations of your RoPE, and how a score depends on the distance.

use ndarray::ArrayD;
use tiny_llm::week1::rope::{RopeTables, inverse_frequencies, rope_interleaved};

const HEAD_DIM: usize = 16;
const POSITIONS: usize = 32;
const ARROWS: [char; 8] = ['→', '↗', '↑', '↖', '←', '↙', '↓', '↘'];

/// Draws a row for each hand and a column for each position, then scores over the distance.
pub(crate) fn show() {
    let tables = RopeTables::new(&inverse_frequencies(HEAD_DIM, 10_000.0), 1200);
    // Every pair is (1, 0), an arrow to the right.
    let rights =
        |rows| ArrayD::from_shape_fn(vec![1, 1, rows, HEAD_DIM], |at| 1.0 - (at[3] % 2) as f32);
    let turned = rope_interleaved(&rights(POSITIONS), &tables, 0);
    println!("An arrow to the right, turned at positions 0 to {}:\n", POSITIONS - 1);
    for pair in 0..HEAD_DIM / 2 {
        print!("  hand {pair}  ");
        for position in 0..POSITIONS {
            let [x, y] = [0, 1].map(|part| turned[[0, 0, position, 2 * pair + part]]);
            let eighths = (y.atan2(x) / std::f32::consts::FRAC_PI_4).round() as i32;
            print!("{}", ARROWS[eighths.rem_euclid(8) as usize]);
        }
        println!();
    }
    println!("\nThe score of two such queries and keys, by their distance:\n");
    println!("  distance   key at 0   at 100   at 1000");
    for distance in [0, 1, 2, 4, 8, 16, 32, 64, 128] {
        let at = |position| rope_interleaved(&rights(1), &tables, position);
        let score = |key| (at(key) * at(key + distance)).sum();
        let [near, far, further] = [score(0), score(100), score(1000)];
        let bar = "█".repeat((near.max(0.0) * 3.0).round() as usize);
        println!("  {distance:>8} {near:>10.3} {far:>8.3} {further:>9.3}  {bar}");
    }
}
