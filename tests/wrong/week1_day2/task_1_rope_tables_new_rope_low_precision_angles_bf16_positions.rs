//! id: rope-low-precision-angles
//! function: RopeTables::new
//! says: Angles in f32; cast the result.
        let bf16 = |x: f32| f32::from_bits((x.to_bits() + 0x8000) & 0xffff_0000);
        let angles = (0..n_positions).flat_map(|p| inverse_frequencies.iter().map(move |theta| bf16(p as f32) * *theta));
        let angles = tensor(&[n_positions, inverse_frequencies.len()], angles.collect());
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
