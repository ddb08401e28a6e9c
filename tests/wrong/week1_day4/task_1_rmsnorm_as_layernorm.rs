//! id: rmsnorm-as-layernorm
//! function: RmsNorm::forward
//! says: RMSNorm keeps the mean.
        assert_eq!(x.shape().last(), self.weight.shape().first());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean = row.mean().unwrap();
            row.mapv_inplace(|v| v - mean);
            let var = row.fold(0.0, |s: f32, &v| s + v * v) / row.len() as f32;
            let scale = 1.0 / (var + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
