//! Rows of q8_0: the rounding error is bounded, and every rung reads and writes the same bytes.

use tiny_llm_kernels::{
    q8_rows::{BLOCK, Q8Rows, row_words},
    rung::Rung,
    vector::{self, TILE, narrow_q8, tile_scores, tile_scores_q8, tile_sum, tile_sum_q8, widen_q8},
};

const DIMS: [usize; 9] = [1, 16, 31, 32, 40, 64, 80, 112, 256];

/// Numbers of many magnitudes, different in each row.
fn numbers(n: usize, seed: usize) -> Vec<f32> {
    let number = |i: usize| ((i * 37 + seed * 101) % 97) as f32 / 48.0 - 1.0;
    (0..n).map(|i| number(i) * 2f32.powi((i / 64 * 5 % 37) as i32 - 20)).collect()
}

fn narrowed(values: &[f32], dim: usize) -> Vec<u32> {
    let mut words = vec![u32::MAX; values.len() / dim * row_words(dim)];
    for (x, row) in values.chunks_exact(dim).zip(words.chunks_exact_mut(row_words(dim))) {
        row.fill(0);
        narrow_q8(x, row);
    }
    words
}

fn widened(words: &[u32], dim: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; words.len() / row_words(dim) * dim];
    widen_q8(Q8Rows { words, dim }, &mut out);
    out
}

#[test]
fn rounding_error_is_at_most_half_a_code() {
    for dim in DIMS {
        let values = numbers(40 * dim, 1);
        let rounded = widened(&narrowed(&values, dim), dim);
        for (x, y) in values.chunks(dim).zip(rounded.chunks(dim)) {
            for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
                let largest = x.iter().fold(0f32, |a, x| a.max(x.abs()));
                // Half a code. For tiny scales, the largest code times the smallest f16.
                let bound = (largest / 254.0 * 1.00001).max(127.0 * 2f32.powi(-24));
                let near = |(x, y): (&f32, &f32)| (x - y).abs() <= bound;
                assert!(x.iter().zip(y).all(near), "{dim}: {x:?} became {y:?}");
            }
        }
        // Rounding again changes nothing.
        assert_eq!(narrowed(&rounded, dim), narrowed(&values, dim), "{dim}");
    }
}

#[test]
fn unrepresentable_numbers_make_their_block_nan() {
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 8.5e6] {
        let mut values = numbers(80, 3);
        values[40] = bad;
        let found = widened(&narrowed(&values, 80), 80);
        for (i, x) in found.iter().enumerate() {
            assert_eq!(x.is_nan(), (32..64).contains(&i), "{bad}: number {i} is {x}");
        }
    }
    assert_eq!(widened(&narrowed(&[0.0; 40], 40), 40), [0.0; 40]);
}

/// Checks that scores and sums equal those of f32 tiles, and that codes are equal on all units.
#[test]
fn all_units_match_the_plain_tiles() {
    let unit = Rung::best();
    for dim in DIMS {
        let values = numbers(TILE * dim, 2);
        vector::use_rung(Rung::Naive);
        let words = narrowed(&values, dim);
        let plain = widened(&words, dim);
        for rung in Rung::available() {
            vector::use_rung(rung);
            assert!(narrowed(&values, dim) == words, "{rung}: rows of {dim}");
            assert!(widened(&words, dim) == plain, "{rung}: rows of {dim}");
            for (queries, n) in [(1, 32), (2, 7), (3, 32), (4, 1), (9, 31)] {
                let rows = Q8Rows { words: &words, dim }.part(0, n);
                let tile = &plain[..n * dim];
                let q = numbers(queries * dim, 4);
                let each: Vec<&[f32]> = q.chunks_exact(dim).collect();
                let (mut found, mut expected) =
                    (vec![7.0; queries * TILE], vec![7.0; queries * TILE]);
                tile_scores_q8(&each, rows, 0.3, &mut found);
                tile_scores(&q, tile, dim, 0.3, &mut expected);
                assert!(found == expected, "{rung}: scores, {queries} queries of {dim}, {n}");
                let (weights, factors) = (numbers(queries * TILE, 5), numbers(queries, 6));
                let mut found = numbers(queries * dim, 7);
                let mut expected = found.clone();
                tile_sum_q8(&weights, &factors, rows, &mut found);
                tile_sum(&weights, &factors, tile, dim, &mut expected);
                assert!(found == expected, "{rung}: sums, {queries} queries of {dim}, {n}");
            }
        }
    }
    vector::use_rung(unit);
}
