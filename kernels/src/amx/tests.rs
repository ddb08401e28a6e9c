//! Tests of the plans. They use the model of the unit and arrays on every machine, and the
//! processor's unit if there is one.

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::Blocks,
    many,
    model::Model,
    plain::Plain,
    super_blocks::SuperBlocks,
    unit::{SIDE, Unit},
};
use crate::{
    format::{MXFP4, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0},
    input::{BLOCK, Input, Int8SuperBlock, SUM, SUPER_BLOCK},
    matrix::Matrix,
    parallel::{Team, Tile},
    unpacked::{Unpacked, has_integers, unpack_row},
};

type Array = [f32; SIDE];

#[path = "../../../reference/tests/parts/random_blocks.rs"]
mod random_blocks;
pub(super) use random_blocks::{Random, matrix};

/// Creates quantized activations. `value` converts a random number to a value.
fn input(
    [rows, cols]: [usize; 2],
    tensor_type: TensorType,
    random: &mut Random,
    value: impl Fn(u64) -> i8,
) -> Input {
    let mut x = Input::default();
    x.resize(rows, cols);
    let super_blocks = x.super_blocks();
    for i in 0..rows * super_blocks {
        let mut super_block = Int8SuperBlock::default();
        let there = SUPER_BLOCK.min(cols - i % super_blocks * SUPER_BLOCK);
        super_block.values[..there].iter_mut().for_each(|x| *x = value(random.next()));
        for (sum, values) in
            super_block.sums.iter_mut().zip(super_block.values.as_chunks::<SUM>().0)
        {
            *sum = values.iter().map(|&x| i16::from(x)).sum();
        }
        let mut scale = || (random.next() % 1000 + 1) as f32 / 7e4;
        let one = scale();
        let per_block = tensor_type.block_len() == BLOCK;
        super_block.scales.iter_mut().for_each(|to| *to = if per_block { scale() } else { one });
        x.int8.push(super_block);
    }
    x.make_tiles(&Team::<crate::parallel::InOrder>::new(1));
    x
}

/// Computes the output with `kernel`, in tiles of 64 columns. The last tile may be smaller.
fn outputs(weight: &Matrix, x: &Input, kernel: impl Fn(&mut Tile<'_, f32>) + Sync) -> Vec<f32> {
    let mut out = vec![f32::NAN; x.rows * weight.rows];
    let team: Team = Team::new(2);
    team.parallel_tiles(&mut out, weight.rows, (x.rows, 64), kernel);
    out
}

/// Computes the output with the format's plan and the model of the matrix unit.
fn with_model(weight: &Matrix, x: &Input) -> Vec<f32> {
    macro_rules! each {
        ($($format:ident: $plan:ident;)*) => {
            match weight.tensor_type {
                $(TensorType::$format => |weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>| {
                    let (mut unit, source) = (Model::default(), Plain(weight.tensor_type));
                    many::multiply::<$plan<$format>, Array, _>(
                        &mut unit, &source, weight, x, tile,
                    );
                },)*
                _ => panic!("a format of floats"),
            }
        };
    }
    let kernel: fn(&Matrix, &Input, &mut Tile<'_, f32>) = each! {
        Q4_0: Blocks;
        Q4_1: Blocks;
        Q5_0: Blocks;
        Q5_1: Blocks;
        Q8_0: Blocks;
        MXFP4: Blocks;
        Q2_K: SuperBlocks;
        Q3_K: SuperBlocks;
        Q4_K: SuperBlocks;
        Q5_K: SuperBlocks;
        Q6_K: SuperBlocks;
    };
    outputs(weight, x, |tile| kernel(weight, x, tile))
}

/// Calls `check` with weights and activations in many shapes, and with values that give the largest
/// sums.
fn for_each(check: impl Fn(&Matrix, &Input, &str)) {
    let mut random = Random(7);
    let integers = TensorType::READ.into_iter().filter(|&one| has_integers(one));
    for tensor_type in integers {
        for (rows, cols, tokens) in [
            (1, 256usize, 1),
            (37, 256, 16),
            (70, 512, 17),
            (33, 96, 5),
            (16, 288, 33),
            (40, 960, 20),
            (16, 64, 16),
            (17, 384, 3),
            (16, 480, 12),
        ] {
            if !cols.is_multiple_of(tensor_type.block_len()) {
                continue;
            }
            let weight = matrix(tensor_type, rows, cols, || random.next() as u8);
            let any = |r| (r as i8).max(-127);
            check(&weight, &input([tokens, cols], tensor_type, &mut random, any), "random bytes");
        }
        for mask in [0u8, 0x11, 0x80, 0x88] {
            for sign in [127, -127] {
                let weight = matrix(tensor_type, 17, 256, || !((random.next() >> 8) as u8 & mask));
                let one = |r: u64| if r.is_multiple_of(61) { sign / 2 } else { sign };
                let x = input([16, 256], tensor_type, &mut random, one);
                check(&weight, &x, "the largest sums");
            }
        }
        let weight = matrix(tensor_type, 16, 256, || 0x80 | random.next() as u8 & 1);
        let x = input([16, 256], tensor_type, &mut random, |r| 127 - (r % 3) as i8);
        check(&weight, &x, "the most negative codes");
    }
}

#[test]
fn model_matches_sums_of_decoded_rows() {
    for_each(|weight, x, what| {
        let out = with_model(weight, x);
        for r in 0..weight.rows {
            let mut row = vec![Unpacked::default(); x.super_blocks()];
            unpack_row(weight.tensor_type, weight.row(r), &mut row);
            for t in 0..x.rows {
                let (mut sum, mut size) = (0.0, 0.0);
                for (w, x) in row.iter().zip(x.int8_row(t)) {
                    for i in 0..SUPER_BLOCK {
                        let (scale, min) =
                            (f64::from(w.scales[i / SUM]), f64::from(w.mins[i / SUM]));
                        let x = f64::from(x.values[i]) * f64::from(x.scales[i / BLOCK]);
                        sum += (scale * f64::from(w.codes[i]) - min) * x;
                        size += ((scale * f64::from(w.codes[i])).abs() + min.abs()) * x.abs();
                    }
                }
                let found = out[t * weight.rows + r];
                assert!(
                    (f64::from(found) - sum).abs() <= 2e-5 * size + 1e-30,
                    "{}, {what}: [{}, {}] × {} rows, row {t}, output {r}: found {found}, expected \
                     {sum}",
                    weight.tensor_type,
                    weight.rows,
                    weight.cols,
                    x.rows
                );
            }
        }
    });
}

#[test]
#[should_panic(expected = "tiles have shapes before they are used")]
fn using_a_released_tile_panics() {
    let mut unit = Model::default();
    unit.configure(&super::unit::Shapes::of(64));
    unit.release();
    unit.zero::<0>();
    unit.load::<4>(&[0; 1024], 64);
}

#[cfg(target_arch = "x86_64")]
mod on_this_processor {
    use super::{
        super::{
            kernels,
            tiles::Tiles,
            unit::{ROW, Shapes, Sums},
        },
        *,
    };
    use crate::{avx512, rung::Rung};

    #[track_caller]
    fn assert_same(found: &[f32], expected: &[f32], weight: &Matrix, what: &str) {
        let differs = found.iter().zip(expected).position(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(
            differs, None,
            "{}, {what}: [{}, {}], the first output that differs",
            weight.tensor_type, weight.rows, weight.cols
        );
    }

    #[test]
    fn model_matches_single_rows_on_avx512() {
        if !Rung::Avx512Vnni.is_available() {
            return println!("not verified: this processor lacks AVX-512");
        }
        for_each(|weight, x, what| {
            let alone = outputs(weight, x, |tile| {
                let few = avx512::kernel(weight.tensor_type, 1);
                // SAFETY: the processor has the instructions.
                unsafe { few(weight, x, tile) }
            });
            assert_same(&with_model(weight, x), &alone, weight, what);
        });
    }

    #[test]
    fn processor_matches_the_model() {
        if !Rung::Amx.is_available() {
            return println!("not verified: {}", super::super::state().unwrap_err());
        }
        for_each(|weight, x, what| {
            let found = outputs(weight, x, |tile| {
                let many = kernels::kernel(weight.tensor_type, 16);
                // SAFETY: the processor has the instructions.
                unsafe { many(weight, x, tile) }
            });
            assert_same(&found, &with_model(weight, x), weight, what);
        });
    }

    #[test]
    fn each_processor_operation_matches_the_model() {
        if !Rung::Amx.is_available() {
            return println!("not verified: {}", super::super::state().unwrap_err());
        }
        fn run(unit: &mut impl Unit, columns: usize, bytes: &[u8]) -> [Sums; 2] {
            let mut sums = [Sums::ZEROS; 2];
            unit.configure(&Shapes::of(columns));
            unit.load::<4>(bytes, columns + 3);
            unit.load::<6>(&bytes[2000..], ROW);
            unit.zero::<0>();
            unit.dot::<0, 4, 6>();
            unit.load::<3>(&bytes[1000..], 0);
            unit.dot_unsigned::<3, 4, 6>();
            unit.dot_unsigned::<3, 4, 6>();
            unit.store::<0>(&mut sums[0]);
            unit.store::<3>(&mut sums[1]);
            unit.release();
            sums
        }
        let mut random = Random(3);
        let bytes: Vec<u8> = (0..4000).map(|_| random.next() as u8).collect();
        for columns in [4, 32, 64] {
            let (real, model) = (&mut Tiles::new(), &mut Model::default());
            assert!(run(real, columns, &bytes) == run(model, columns, &bytes), "{columns} columns");
        }
    }
}
