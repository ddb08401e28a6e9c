//! function: RopeTables::new
//! how: see the name
        let angle = |at: &ndarray::IxDyn| at[0] as f64 * f64::from(inverse_frequencies[at[1]]);
        let shape = ndarray::IxDyn(&[n_positions, inverse_frequencies.len()]);
        Self { cos: Tensor::from_shape_fn(shape.clone(), |at| angle(&at).cos() as f32), sin: Tensor::from_shape_fn(shape, |at| angle(&at).sin() as f32) }
