//! id: rope-angles-in-turns
//! function: RopeTables::new
//! says: Your angles are 2π times too large: a frequency is in radians per position, not in turns.
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta * std::f32::consts::TAU));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
