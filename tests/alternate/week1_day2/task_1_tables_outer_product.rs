//! function: RopeTables::new
//! how: the angles as a product of matrices, [P, 1] × [1, D/2]
        let positions = tensor(&[n_positions, 1], (0..n_positions).map(|p| p as f32).collect());
        let frequencies = tensor(&[1, inverse_frequencies.len()], inverse_frequencies.to_vec());
        let angles = tiny_llm_formats::matmul(&positions, &frequencies);
        Self { cos: angles.mapv(f32::cos), sin: angles.mapv(f32::sin) }
