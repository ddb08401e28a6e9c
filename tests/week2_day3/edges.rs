//! Week 2, day 3: blocks near the limits of f32 and f16, byte for byte, and rows without a valid
//! error.

use tiny_llm::week2::blocks::{
    error::{relative_error, rms_error, round_trip_error},
    q4_0, q5_0, q8_0,
};
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_harness::check::{assert_accepts, assert_panics};

/// The smallest positive f32.
const LEAST: f32 = f32::from_bits(1);
/// A weight so small that its scale is 0 in f16, but not in f32.
const SMALL: f32 = 1e-9;

/// A block: its name, the value of all weights but one, and the value of weight 5.
type Block = (&'static str, f32, f32);

/// Compares the bytes of each block: two bytes of the scale, then `pack(integers)`. In each case,
/// all integers are the third entry, except for the integer of weight 5, which is the last.
#[track_caller]
fn check_bytes<const BYTES: usize>(
    quantize: impl Fn(&[f32; 32]) -> [u8; BYTES],
    pack: impl Fn(&[u8; 32]) -> Vec<u8>,
    cases: &[(Block, [u8; 2], u8, u8)],
) {
    for &((name, all, fifth), scale, usual, at_5) in cases {
        let mut x = [all; 32];
        x[5] = fifth;
        let mut integers = [usual; 32];
        integers[5] = at_5;
        let expected = [&scale[..], &pack(&integers)].concat();
        let found = assert_accepts(&format!("quantize of {name}"), || quantize(&x));
        let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert!(
            found == *expected,
            "{name} (31 weights of {all:e}, and weight 5 is {fifth:e}): byte {} is {:#04x}, \
             expected {:#04x}\n  found    {found:02x?}\n  expected {expected:02x?}\n  bytes 0 and \
             1 are the scale in f16, where 00 00 is 0 and 00 80 is −0; compute the integers with \
             the scale before it is rounded to f16; if that scale is 0, write the integers of a \
             block of zeros",
            first.unwrap_or_default(),
            found[first.unwrap_or_default()],
            expected[first.unwrap_or_default()]
        );
    }
}

#[test]
fn task_1_quantize_q8_0_edge_cases() {
    let minus_32 = -32i8 as u8;
    check_bytes(
        q8_0::quantize,
        |integers| integers.to_vec(),
        &[
            (("zeros", 0.0, 0.0), [0, 0], 0, 0),
            (("negative zeros", -0.0, -0.0), [0, 0], 0, 0),
            (("the smallest f32, whose 127th part rounds to 0", LEAST, LEAST), [0, 0], 0, 0),
            (("one weight of the negative f32 nearest to 0", 0.0, -LEAST), [0, 0], 0, 0),
            (("the negative f32 nearest to 0", -LEAST, -LEAST), [0, 0], 0, 0),
            (("twice the smallest f32", 2.0 * LEAST, 2.0 * LEAST), [0, 0], 0, 0),
            (("63 times the smallest f32", f32::from_bits(63), 0.0), [0, 0], 0, 0),
            (("small weights", SMALL, -SMALL), [0, 0], 127, 129),
            (("the largest numbers", f32::MAX, -f32::MAX / 4.0), [0x00, 0x7c], 127, minus_32),
        ],
    );
}

/// Packs weight j into the low half of byte j, and weight j + 16 into the high half.
fn halves(integers: &[u8; 32]) -> Vec<u8> {
    (0..16).map(|j| integers[j] & 15 | integers[j + 16] << 4).collect()
}

#[test]
fn task_2_quantize_q4_0_edge_cases() {
    check_bytes(
        q4_0::quantize,
        halves,
        &[
            (("zeros, where 0 / −8 is −0", 0.0, 0.0), [0x00, 0x80], 8, 8),
            (("the smallest f32, whose eighth part rounds to 0", LEAST, LEAST), [0x00, 0x80], 8, 8),
            (("one weight of the negative f32 nearest to 0", 0.0, -LEAST), [0x00, 0x00], 8, 8),
            (("the negative f32 nearest to 0", -LEAST, -LEAST), [0x00, 0x00], 8, 8),
            (("twice the smallest f32", 2.0 * LEAST, 2.0 * LEAST), [0x00, 0x80], 8, 8),
            (("three times the smallest f32", f32::from_bits(3), 0.0), [0x00, 0x80], 8, 8),
            (("a small weight", 0.0, SMALL), [0x00, 0x80], 8, 0),
            (("a small negative weight", SMALL, -2.0 * SMALL), [0x00, 0x00], 12, 0),
            (("the largest numbers", f32::MAX, -f32::MAX), [0x00, 0xfc], 0, 15),
        ],
    );
}

/// Packs the fifth bits of all weights, lowest first, then the rest as [`halves`].
fn fifths_and_halves(integers: &[u8; 32]) -> Vec<u8> {
    let fifth = |byte: usize| (0..8).map(|bit| integers[8 * byte + bit] >> 4 << bit).sum::<u8>();
    (0..4).map(fifth).chain(halves(integers)).collect()
}

#[test]
fn task_3_quantize_q5_0_edge_cases() {
    check_bytes(
        q5_0::quantize,
        fifths_and_halves,
        &[
            (("zeros, where 0 / −16 is −0", 0.0, 0.0), [0x00, 0x80], 16, 16),
            (("the smallest f32, whose 16th part rounds to 0", LEAST, LEAST), [0x00, 0x80], 16, 16),
            (("one weight of the negative f32 nearest to 0", 0.0, -LEAST), [0x00, 0x00], 16, 16),
            (("the negative f32 nearest to 0", -LEAST, -LEAST), [0x00, 0x00], 16, 16),
            (("twice the smallest f32", 2.0 * LEAST, 2.0 * LEAST), [0x00, 0x80], 16, 16),
            (("seven times the smallest f32", f32::from_bits(7), 0.0), [0x00, 0x80], 16, 16),
            (("a small weight", 0.0, SMALL), [0x00, 0x80], 16, 0),
            (("a small negative weight", SMALL, -2.0 * SMALL), [0x00, 0x00], 24, 0),
            (("the largest numbers", f32::MAX, -f32::MAX), [0x00, 0xfc], 0, 31),
        ],
    );
}

/// Compares the weights of blocks with several scales bit by bit. Each weight is the product in f32
/// of the scale and a whole number.
#[track_caller]
fn check_scales<const BYTES: usize>(
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; 32]),
    integers: &[u8],
    whole: [f32; 32],
) {
    // The f16 numbers −0, the smallest, −1.5, the largest, ∞, −∞, NaN.
    for bits in [0x8000u16, 0x0001, 0xbe00, 0x7bff, 0x7c00, 0xfc00, 0x7e00] {
        let block: [u8; BYTES] =
            [&bits.to_le_bytes()[..], integers].concat().try_into().expect("the bytes of a block");
        let mut out = [7.0; 32];
        dequantize(&block, &mut out);
        let d = half::f16::from_bits(bits).to_f32();
        for (i, (&found, &whole)) in out.iter().zip(&whole).enumerate() {
            let expected = d * whole;
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "weight {i} of a block with scale {d:?}: found {found:?}, expected {d:?} · {whole} \
                 = {expected:?}\n  accept any scale and use plain f32 arithmetic: zeros have a \
                 sign, and ∞ · 0 is NaN"
            );
        }
    }
}

#[test]
fn task_1_dequantize_q8_0_with_edge_case_scales() {
    let whole: [f32; 32] = std::array::from_fn(|i| [0.0, 1.0, -1.0, 127.0, -128.0, 5.0][i % 6]);
    let integers: Vec<u8> = whole.iter().map(|&q| q as i8 as u8).collect();
    check_scales(q8_0::dequantize, &integers, whole);
}

#[test]
fn task_2_dequantize_q4_0_with_edge_case_scales() {
    let integers: [u8; 32] = std::array::from_fn(|i| (5 * i % 16) as u8);
    check_scales(q4_0::dequantize, &halves(&integers), integers.map(|q| f32::from(q) - 8.0));
}

#[test]
fn task_3_dequantize_q5_0_with_edge_case_scales() {
    let integers: [u8; 32] = std::array::from_fn(|i| (5 * i % 32) as u8);
    let packed = fifths_and_halves(&integers);
    check_scales(q5_0::dequantize, &packed, integers.map(|q| f32::from(q) - 16.0));
}

#[test]
fn task_4_both_errors_panic_on_unequal_or_empty_rows() {
    for (x, y) in [
        (&[1.0, 2.0][..], &[1.0][..]),
        (&[1.0], &[1.0, 2.0]),
        (&[0.0; 3], &[0.0; 2]),
        (&[1.0], &[]),
        (&[], &[1.0]),
        (&[], &[]),
    ] {
        assert_panics(&format!("rms_error({x:?}, {y:?})"), || rms_error(x, y));
        assert_panics(&format!("relative_error({x:?}, {y:?})"), || relative_error(x, y));
    }
}

#[test]
fn task_4_round_trip_error_panics_on_empty_or_partial_blocks() {
    for (tensor_type, n) in [
        (TensorType::Q8_0, 40),
        (TensorType::Q8_0, 33),
        (TensorType::Q8_0, 20),
        (TensorType::Q4_0, 40),
        (TensorType::Q4_0, 33),
        (TensorType::Q5_0, 63),
        (TensorType::Q4_1, 31),
        (TensorType::Q4_K, 300),
        (TensorType::Q6_K, 32),
        (TensorType::F32, 0),
    ] {
        assert_panics(
            &format!(
                "round_trip_error of {n} weights in {tensor_type}, blocks of {}",
                tensor_type.block_len()
            ),
            || round_trip_error(tensor_type, &vec![1.0; n]),
        );
    }
}

#[test]
fn task_4_relative_error_is_scale_invariant() {
    let (x, y) = ([3.0, -4.0, 0.0, 12.0], [3.0, -4.0, 13.0, 12.0]);
    for power in [-120, -100, -40, 0, 40, 100, 120] {
        let unit = 2f32.powi(power);
        let [x, y] = [x, y].map(|row| row.map(|x: f32| x * unit));
        let (rms, relative) = (rms_error(&x, &y), relative_error(&x, &y));
        assert!(
            rms == 6.5 * f64::from(unit) && relative == 1.0,
            "errors of {x:?} that come back as {y:?}: found rms_error {rms:e} and relative_error \
             {relative:e}, expected 6.5 · 2^{power} and 1: the one wrong weight is off by the \
             length of the whole vector"
        );
    }
}

/// In f32, these differences would be infinite or lose the smaller number.
#[test]
fn task_4_errors_are_computed_in_f64() {
    let largest = f64::from(f32::MAX);
    for (x, y, expected) in [
        (f32::MAX, f32::MIN, 2.0 * largest),
        (f32::MIN, f32::MAX, 2.0 * largest),
        (3e38, -3e38, 2.0 * f64::from(3e38f32)),
        (1e8, 1.0, 99_999_999.0),
        (-1.0, 16_777_216.0, 16_777_217.0),
        (f32::from_bits(1), f32::from_bits(3), 2.0 * f64::from(f32::from_bits(1))),
    ] {
        for n in [1, 2, 33] {
            let found = rms_error(&vec![x; n], &vec![y; n]);
            assert!(
                (found - expected).abs() <= 1e-12 * expected,
                "rms_error of {n} weights {x:e} stored as {y:e}: found {found:e}, expected \
                 {expected:e}. Subtract in f64 too"
            );
            let found = relative_error(&vec![x; n], &vec![y; n]);
            let expected = expected / f64::from(x).abs();
            assert!(
                (found - expected).abs() <= 1e-12 * expected,
                "relative_error of {n} weights {x:e} stored as {y:e}: found {found:e}, expected \
                 {expected:e}"
            );
        }
    }
}
