//! id: rmsnorm-as-layernorm
//! function: RmsNorm::forward
//! says: This is a LayerNorm: you subtract the mean of each row. RMSNorm subtracts nothing, so the mean survives.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean = row.sum() / row.len() as f32;
            row.mapv_inplace(|v| v - mean);
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + v * v) / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
