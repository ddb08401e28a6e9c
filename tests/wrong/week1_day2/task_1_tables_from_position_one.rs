//! id: rope-table-offset
//! function: RopeTables::new
//! says: Row 0 of your tables belongs to position 1: row p is position p, so row 0 turns nothing.
        let angles = (1..=n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
