//! id: rope-angles-in-degrees
//! function: RopeTables::new
//! says: Your angles begin again at 360: they are radians, not degrees, and cos and sin take them as they are.
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta % 360.0));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
