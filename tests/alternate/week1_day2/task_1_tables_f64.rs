//! function: RopeTables::new
//! how: the angles, too, in f64
        let shape = vec![n_positions, inverse_frequencies.len()];
        let angle = |at: ndarray::IxDyn| at[0] as f64 * f64::from(inverse_frequencies[at[1]]);
        Self {
            cos: Tensor::from_shape_fn(shape.clone(), |at| angle(at).cos() as f32),
            sin: Tensor::from_shape_fn(shape, |at| angle(at).sin() as f32),
        }
