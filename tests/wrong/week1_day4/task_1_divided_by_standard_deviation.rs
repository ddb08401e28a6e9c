//! id: rmsnorm-as-layernorm
//! function: RmsNorm::forward
//! says: You divide by the standard deviation, that is, about the mean. RMSNorm divides by the root of the mean of x² itself.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean = row.sum() / row.len() as f32;
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + (v - mean) * (v - mean)) / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
