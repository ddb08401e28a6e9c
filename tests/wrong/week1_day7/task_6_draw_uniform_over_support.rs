//! id: draw-uniform-over-support
//! function: draw
//! says: By probability, not evenly.
let ids: Vec<usize> = (0..logits.len()).filter(|&i| logits[i] > f32::NEG_INFINITY).collect();
    ids[(uniform * ids.len() as f64) as usize] as u32
