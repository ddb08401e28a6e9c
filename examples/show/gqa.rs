//! Day 3: your mask, and which heads share keys and values.

use ndarray::ArrayD;
use tiny_llm::week1::gqa::{causal_mask, grouped_query_attention};

const QUERY_HEADS: usize = 8;
const KV_HEADS: usize = 2;

/// Draws the masks of a whole prompt and of its second half, then the groups.
pub(crate) fn show() {
    for (length, keys, what) in [(8, 8, "a prompt of 8"), (3, 8, "3 more tokens after 5")] {
        let mask = causal_mask(length, keys);
        println!("{what}: L = {length}, S = {keys}\n");
        for i in 0..length {
            print!("  token {}  ", keys - length + i);
            for j in 0..keys {
                print!("{}", if mask[[i, j]] == 0.0 { " ■" } else { " ·" });
            }
            println!();
        }
        println!();
    }
    let ones = |heads| ArrayD::ones(vec![1, heads, 1, 4]);
    // Each head's values are its index, so the output tells which head was read.
    let values = ArrayD::from_shape_fn(vec![1, KV_HEADS, 1, 4], |at| at[1] as f32);
    let out = grouped_query_attention(&ones(QUERY_HEADS), &ones(KV_HEADS), &values, None, None);
    println!("{QUERY_HEADS} query heads on {KV_HEADS} heads of keys and values:\n");
    for head in 0..QUERY_HEADS {
        println!("  query head {head} reads key/value head {}", out[[0, head, 0, 0]]);
    }
}
