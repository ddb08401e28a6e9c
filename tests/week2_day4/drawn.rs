//! Week 2, day 4: random scales, groups and blocks, and those with zeros.

use tiny_llm::week2::blocks::{
    q4_k, q6_k,
    search::{ScaleAndMin, fit_scale_and_min, search_scale_and_min},
};
use tiny_llm_harness::fixtures::random;

use super::{
    check_scales, fixtures,
    task_2::decode_q6_k,
    task_4::{decode_q4_k, six_bits},
};

fn drawn<const N: usize>(seed: u64) -> [f32; N] {
    let x = random(seed, &[N]);
    std::array::from_fn(|i| x[i])
}

#[test]
fn task_1_scales_and_minimums_of_random_bytes() {
    check_scales(&fixtures());
    for seed in 0..300 {
        let bytes: [u8; 16] = drawn::<16>(seed).map(|x| ((x + 2.0) * 64.0) as u8);
        let packed: &[u8; 12] = bytes[4..].try_into().expect("12 bytes");
        let (found, expected) = (q4_k::scales_and_minimums(packed), six_bits(&bytes));
        assert!(
            found == expected,
            "scales_and_minimums({packed:?}): found {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn task_4_pack_scales_and_minimums_of_random_values() {
    for seed in 0..300 {
        let [scales, minimums] =
            [0, 1000].map(|kind| drawn::<8>(kind + seed).map(|x| ((x + 2.0) * 16.0) as u8));
        let packed = q4_k::pack_scales_and_minimums(&scales, &minimums);
        let found = six_bits(&[&[0; 4][..], &packed].concat());
        assert!(
            found == (scales, minimums),
            "pack_scales_and_minimums({scales:?}, {minimums:?}): found {packed:?}, which unpacks \
             to {found:?}, expected the numbers that were packed"
        );
    }
}

/// Returns the weighted squared error of `codes` with a scale and a minimum, in f64.
fn error<const N: usize>(
    x: &[f32; N],
    importance: &[f32; N],
    codes: &[f32; N],
    scale: f64,
    min: f64,
) -> f64 {
    let square = |i: usize| {
        f64::from(importance[i]) * (scale * f64::from(codes[i]) - min - f64::from(x[i])).powi(2)
    };
    (0..N).map(square).sum()
}

/// Checks that no scale and minimum near the returned ones fit better.
#[track_caller]
fn check_fit_of<const N: usize>(seed: u64, top: f32) {
    let (x, importance) = (drawn::<N>(seed), drawn::<N>(seed + 1).map(|x| x.abs() + 0.1));
    // Codes that match the weights roughly. In every fourth group they are all equal.
    let codes = x.map(|x| {
        let code = if seed.is_multiple_of(4) { top } else { ((x + 1.5) * top / 3.0).round() };
        code.clamp(0.0, top)
    });
    let x = x.map(|x| x + [0.0, -1.0, 3.0][seed as usize % 3]);
    let fit = fit_scale_and_min(&x, &importance, &codes);
    let (scale, min) = (f64::from(fit.scale), f64::from(fit.min));
    let what =
        format!("fit_scale_and_min of {N} weights {x:?}, with codes {codes:?} (seed {seed})");
    assert!(
        fit.scale.is_finite() && fit.min >= 0.0,
        "{what}: found {fit:?}, expected a finite scale, and a minimum of at least 0"
    );
    let equal = codes.iter().all(|&q| q == codes[0]);
    assert!(
        !equal || fit.min == 0.0,
        "{what}: found {fit:?}, expected minimum 0, because all codes are equal"
    );
    if codes.iter().all(|&q| q == 0.0) {
        assert!(
            fit.scale == 0.0,
            "{what}: found {fit:?}, expected scale 0, because all codes are 0"
        );
        return;
    }
    let own = error(&x, &importance, &codes, scale, min);
    for (ds, dm) in
        [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01), (0.01, 0.1), (-0.01, -0.1)]
    {
        // If all codes are equal, the minimum stays 0. It is never negative.
        if min + dm < 0.0 || equal && dm != 0.0 {
            continue;
        }
        let other = error(&x, &importance, &codes, scale + ds, min + dm);
        assert!(
            own <= other * (1.0 + 1e-4) + 1e-6,
            "{what}: {fit:?} has an error of {own}, but scale {} with minimum {} has {other}: \
             return the best pair",
            scale + ds,
            min + dm
        );
    }
}

#[test]
fn task_3_fit_scale_and_min_of_random_groups() {
    for seed in 0..40 {
        for top in [1.0, 3.0, 15.0, 31.0] {
            check_fit_of::<1>(10 * seed, top);
            check_fit_of::<2>(10 * seed + 2, top);
            check_fit_of::<5>(10 * seed + 3, top);
            check_fit_of::<16>(10 * seed + 5, top);
            check_fit_of::<32>(10 * seed + 7, top);
        }
    }
}

/// Checks the search on weights that it can reproduce exactly. Codes include 0 and `top`.
#[track_caller]
fn check_search_of<const N: usize>(seed: u64, top: u8) {
    let unit = 2f32.powi([0, -20, 8][seed as usize % 3]);
    let min = (seed % 5) as f32 * 1.5 * unit;
    let steps = f32::from(top);
    let mut codes = drawn::<N>(seed).map(|x| ((x + 2.0) / 4.0 * steps).round());
    (codes[0], codes[N - 1]) = (0.0, steps);
    let x = codes.map(|q| unit * q - min);
    let found = search_scale_and_min(&x, top);
    let lost = x.iter().map(|&x| lost(x, found, top)).fold(0.0, f32::max);
    assert!(
        found.scale.is_finite() && found.min >= 0.0 && lost <= 1e-4 * unit * steps,
        "search_scale_and_min of {N} weights {x:?} and codes up to {top}: found {found:?}, which \
         reproduces a weight with an error of {lost:e}, but scale {unit} and minimum {min} \
         reproduce all weights exactly"
    );
}

/// Returns the error of a weight that is stored as its nearest code.
fn lost(x: f32, found: ScaleAndMin, top: u8) -> f32 {
    let code = match found.scale {
        0.0 => 0.0,
        scale => ((x + found.min) / scale).round_ties_even().clamp(0.0, f32::from(top)),
    };
    (found.scale * code - found.min - x).abs()
}

#[test]
fn task_3_search_scale_and_min_of_random_groups() {
    for seed in 0..30 {
        for top in [3, 7, 15, 31] {
            check_search_of::<2>(seed, top);
            check_search_of::<5>(seed, top);
            check_search_of::<16>(seed, top);
            check_search_of::<32>(seed, top);
        }
    }
}

#[track_caller]
fn check_search_of_one_value<const N: usize>() {
    for value in [0.0, -3.0, -1e-20, -6e4] {
        let found = search_scale_and_min(&[value; N], 15);
        assert!(
            found == ScaleAndMin { scale: 0.0, min: -value },
            "search_scale_and_min of {N} weights of {value}: found {found:?}, expected scale 0 and \
             a minimum of minus that value"
        );
    }
    for value in [2.0, 1e-10, 6e4] {
        let found = search_scale_and_min(&[value; N], 15);
        let lost = lost(value, found, 15);
        assert!(
            found.scale.is_finite() && found.min >= 0.0 && lost <= 1e-5 * value,
            "search_scale_and_min of {N} weights of {value}: found {found:?}, which reproduces the \
             weights with an error of {lost:e}, expected at most 1e-5 times the weight"
        );
    }
}

#[test]
fn task_3_search_scale_and_min_of_constant_groups() {
    check_search_of_one_value::<1>();
    check_search_of_one_value::<16>();
    check_search_of_one_value::<32>();
}

/// Checks blocks of 256 with zeros and with weights of all sizes. Each weight may be wrong by
/// `allowed` times the largest in its group of `group` weights.
#[track_caller]
fn check_blocks(
    format: &str,
    group: usize,
    allowed: f32,
    there_and_back: impl Fn(&[f32; 256]) -> [f32; 256],
) {
    let any = drawn::<256>(77);
    let zeros_at = |from: usize, n: usize| -> [f32; 256] {
        std::array::from_fn(|i| if (from..from + n).contains(&i) { 0.0 } else { any[i] })
    };
    let one = |at: usize, x: f32| -> [f32; 256] {
        std::array::from_fn(|i| if i == at { x } else { 0.0 })
    };
    let blocks = [
        ("zeros", [0.0; 256]),
        ("negative zeros", [-0.0; 256]),
        ("weights of any size", any),
        ("a first group of zeros", zeros_at(0, group)),
        ("a group of zeros in the middle", zeros_at(3 * group, group)),
        ("a last group of zeros", zeros_at(256 - group, group)),
        ("zeros except in the first group", zeros_at(group, 256 - group)),
        ("zeros except for the first weight", one(0, 1.0)),
        ("zeros except for a negative last weight", one(255, -1.0)),
        ("positive weights", any.map(|x| x.abs() + 0.01)),
        ("negative weights", any.map(|x| -x.abs() - 0.01)),
        ("large weights", any.map(|x| x * 2e4)),
        ("weights too small for any f16 scale", any.map(|x| x * 1e-30)),
        ("weights of the smallest f32", [f32::from_bits(1); 256]),
    ];
    for (name, block) in blocks {
        let back = there_and_back(&block);
        for (i, (&x, &back)) in block.iter().zip(&back).enumerate() {
            let mates = &block[i / group * group..][..group];
            let largest = mates.iter().fold(0f32, |m, x| m.max(x.abs()));
            // Weights too small for f16 may become 0, but no worse.
            let slack = if largest < 1e-6 { largest } else { allowed * largest };
            assert!(
                (back - x).abs() <= slack,
                "a {format} block ({name}): weight {i}, {x:e}, came back as {back:e}, but it may \
                 be off by at most {slack:e} (the largest of its {group} is {largest:e})"
            );
        }
    }
}

#[test]
fn task_2_quantize_q6_k_edge_cases() {
    check_blocks("Q6_K", 16, 0.05, |x| decode_q6_k(&q6_k::quantize(x)));
}

#[test]
fn task_4_quantize_q4_k_edge_cases() {
    check_blocks("Q4_K", 32, 0.15, |x| decode_q4_k(&q4_k::quantize(x)));
}

/// Compares weights bit by bit. All NaNs count as equal.
#[track_caller]
fn check_weights(what: &str, found: &[f32; 256], expected: impl Fn(usize) -> f32) {
    for (i, &found) in found.iter().enumerate() {
        let expected = expected(i);
        assert!(
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
            "weight {i} of a block with {what}: found {found:?}, expected {expected:?}\n  accept \
             any scale and use plain f32 arithmetic in the documented order: zeros have a sign, \
             and ∞ · 0 is NaN"
        );
    }
}

/// The f16 numbers 1, −0, −2, the smallest, the largest, ∞, NaN.
const SCALES: [u16; 7] = [0x3c00, 0x8000, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x7e00];

#[test]
fn task_1_dequantize_q4_k_with_edge_case_scales() {
    check_scales(&fixtures());
    for (d, dmin) in SCALES.into_iter().flat_map(|d| SCALES.map(|dmin| (d, dmin))) {
        // Scales are 0 to 3 and 8 to 11, minimums the reverse, all below 16. Code i is i % 16.
        let mut block = [0u8; q4_k::BYTES];
        block[..2].copy_from_slice(&d.to_le_bytes());
        block[2..4].copy_from_slice(&dmin.to_le_bytes());
        for j in 0..4 {
            (block[4 + j], block[8 + j]) = (j as u8, 3 - j as u8);
            block[12 + j] = (8 + j as u8) | (11 - j as u8) << 4;
        }
        for (i, byte) in block[16..].iter_mut().enumerate() {
            *byte = (i % 16) as u8 * 17;
        }
        let scale = |j: usize| [0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0][j];
        let minimum = |j: usize| [3.0, 2.0, 1.0, 0.0, 11.0, 10.0, 9.0, 8.0][j];
        let mut out = [7.0; 256];
        q4_k::dequantize(&block, &mut out);
        let [d, dmin] = [d, dmin].map(|bits| half::f16::from_bits(bits).to_f32());
        check_weights(&format!("d {d:?} and dmin {dmin:?}"), &out, |i| {
            let (j, code) = (i / 32, (i % 16) as f32);
            (d * scale(j)) * code - dmin * minimum(j)
        });
    }
}

#[test]
fn task_2_dequantize_q6_k_with_edge_case_scales() {
    for d in SCALES {
        let mut block = [0u8; q6_k::BYTES];
        // All codes are 32 or 33: the low halves alternate between 0 and 1, and the upper bits are
        // 2.
        block[..128].iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 2) as u8 * 17);
        block[128..192].fill(0b1010_1010);
        let scale = |s: usize| [0i8, 1, -1, -128][s % 4];
        (0..16).for_each(|s| block[192 + s] = scale(s) as u8);
        block[208..].copy_from_slice(&d.to_le_bytes());
        let mut out = [7.0; 256];
        q6_k::dequantize(&block, &mut out);
        let d = half::f16::from_bits(d).to_f32();
        check_weights(&format!("d {d:?}"), &out, |i| {
            (d * f32::from(scale(i / 16))) * (i % 2) as f32
        });
    }
}
