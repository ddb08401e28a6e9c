//! Unpacks rows one element at a time, for the plans' tests on every machine.

use tiny_llm_formats::gguf::TensorType;

use super::{
    panel::{Panel, Source},
    super_blocks::{Fold, PIECE, place},
    unit::{ROW, SIDE},
};
use crate::{
    blocks::{f16_at, q3_k, six_bits},
    input::{BLOCK, SUM, SUPER_BLOCK},
    unpacked::{Unpacked, unpack_row},
};

/// A [`Source`] that unpacks blocks of the given type.
pub(super) struct Plain(pub(super) TensorType);

impl Source for Plain {
    fn fill(&self, panel: &mut Panel, rows: [&[u8]; SIDE], _: usize) {
        for (i, bytes) in rows.into_iter().enumerate() {
            let mut row = [Unpacked::default()];
            unpack_row(self.0, bytes, &mut row);
            match self.0.block_len() {
                BLOCK => blocks(panel, i, &row[0]),
                _ => super_block(panel, i, self.0, bytes, &row[0]),
            }
        }
    }
}

fn blocks(panel: &mut Panel, i: usize, row: &Unpacked) {
    for (c, &code) in row.codes.iter().enumerate() {
        panel.codes[c / BLOCK * SIDE * BLOCK + i * BLOCK + c % BLOCK] = code as u8;
    }
    panel.scales[i] = row.scales;
    panel.minimums[i] = row.mins.map(|min| -min);
}

fn super_block(panel: &mut Panel, i: usize, tensor_type: TensorType, block: &[u8], row: &Unpacked) {
    let nothing = [0; SUPER_BLOCK / SUM];
    let twice = |packed: u64| std::array::from_fn(|s| packed.to_le_bytes()[s / 2].into());
    let six = || six_bits::unpack(block[4..16].try_into().expect("12 bytes"));
    let (fold, scales, minimums, d): (_, [i16; 16], [i16; 16], _) = match tensor_type {
        TensorType::Q2_K => {
            let both: [u8; 16] = block[..16].try_into().expect("16 bytes");
            let [low, high] = [both.map(|b| (b & 15).into()), both.map(|b| (b >> 4).into())];
            (Fold::Whole, low, high, [f16_at(block, 80), f16_at(block, 82)])
        }
        TensorType::Q3_K => {
            let scales = q3_k::scales(block[96..108].try_into().expect("12 bytes"));
            (Fold::Minus, scales.map(i16::from), nothing, [-f16_at(block, 108), 0.0])
        }
        TensorType::Q6_K => {
            let scales: [u8; 16] = block[192..208].try_into().expect("16 bytes");
            let scales = scales.map(|s| i16::from(s as i8));
            (Fold::Bytes, scales, nothing, [f16_at(block, 208), 0.0])
        }
        _ => {
            let (scales, minimums) = six();
            let d = [f16_at(block, 0), f16_at(block, 2)];
            (Fold::Eights, twice(scales), twice(minimums), d)
        }
    };
    for (c, &code) in row.codes.iter().enumerate() {
        let (code, scale) = (i16::from(code), scales[c / SUM]);
        let (lower, upper) = match fold {
            Fold::Whole => (code * scale, 0),
            Fold::Minus => (-code * scale, 0),
            Fold::Eights => (code * (scale & 7), code * (scale >> 3)),
            Fold::Bytes => ((code * scale) & 255, (code * scale) >> 8),
        };
        let (quarter, piece) = place(fold, c / PIECE);
        let at = (quarter * SIDE + i) * ROW + piece * PIECE + c % PIECE;
        (panel.codes[at], panel.upper[at]) = (lower as u8, upper as u8);
    }
    (panel.scales[i][0], panel.scales[i][1]) = (d[0], -d[1]);
    let finer = tensor_type == TensorType::Q2_K;
    for pair in 0..8 {
        // Minimums of 32 columns are stored twice.
        let number = |n: usize| if finer { minimums[n] } else { minimums[(2 * n) % 16] };
        let two = [number(2 * pair), number(2 * pair + 1)].map(|n| i32::from(n as u16));
        panel.whole_minimums[i][pair] = if finer || pair < 4 { two[0] | two[1] << 16 } else { 0 };
    }
}
