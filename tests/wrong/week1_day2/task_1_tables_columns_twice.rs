//! id: rope-tables-of-d-columns
//! function: RopeTables::new
//! says: Your tables have D columns, each frequency twice: here they have one for each pair, D/2.
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().chain(inverse_frequencies).map(move |theta| p as f32 * theta));
        let angles = tensor(&[n_positions, 2 * inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
