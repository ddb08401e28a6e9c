//! id: rope-angles-in-degrees
//! function: RopeTables::new
//! says: Your angles are π/180 of what they should be: p · θ is in radians already, so nothing is to be converted.
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| (p as f32 * theta).to_radians()));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
