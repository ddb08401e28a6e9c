//! id: rmsnorm-sum-runs-on
//! function: RmsNorm::forward
//! says: Your sum of squares runs on from row to row: every row begins again at 0.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        let mut sum = 0.0;
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            sum = row.fold(sum, |sum: f32, &v| sum + v * v);
            let mean_square = sum / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
