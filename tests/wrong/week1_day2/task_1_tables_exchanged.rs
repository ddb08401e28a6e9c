//! id: rope-tables-exchanged
//! function: RopeTables::new
//! says: The cosines stand in `sin` and the sines in `cos`.
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| p as f32 * theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::sin), sin: angles.mapv(f32::cos) }
