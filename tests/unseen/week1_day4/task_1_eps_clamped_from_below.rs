//! id: unseen
//! function: RmsNorm::forward
//! says: eps.max(1e-5)
        assert_eq!(
            x.shape().last(),
            self.weight.shape().first(),
            "RmsNorm: x {:?} does not fit weight {:?}",
            x.shape(),
            self.weight.shape()
        );
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + v * v) / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps.max(1e-5)).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
