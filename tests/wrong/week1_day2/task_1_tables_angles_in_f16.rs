//! id: rope-low-precision-angles
//! function: RopeTables::new
//! says: Your positions or angles are rounded to 16 bits, so the pairs turn by other angles, the more so the further on: keep all of this in f32.
        // An f16 has 13 bits of fraction less than an f32.
        let f16 = |angle: f32| f32::from_bits((angle.to_bits() + 0x1000) & 0xffff_e000);
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| f16(p as f32 * theta)));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
