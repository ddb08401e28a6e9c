//! function: RmsNorm::forward
//! how: the squares summed in f64
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = row.fold(0.0f64, |sum, &v| sum + f64::from(v) * f64::from(v)) / row.len() as f64;
            let scale = (1.0 / (mean_square + f64::from(self.eps)).sqrt()) as f32;
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
