//! id: rmsnorm-square-of-sum
//! function: RmsNorm::forward
//! says: You square the mean of the row; it is the mean of the squares that counts: square first.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean = row.sum() / row.len() as f32;
            let mean_square = mean * mean;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
