//! id: rope-table-offset
//! function: RopeTables::new
//! says: Row p is position p, always.
        let angles = (1..=n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
