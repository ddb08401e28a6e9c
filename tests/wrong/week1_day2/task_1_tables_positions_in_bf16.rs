//! id: rope-low-precision-angles
//! function: RopeTables::new
//! says: Your positions or angles are rounded to 16 bits, so the pairs turn by other angles, the more so the further on: keep all of this in f32.
        // The upper 16 bits of an f32 are a bf16.
        let bf16 = |p: usize| f32::from_bits(((p as f32).to_bits() + 0x8000) & 0xffff_0000);
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| bf16(p) * theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
