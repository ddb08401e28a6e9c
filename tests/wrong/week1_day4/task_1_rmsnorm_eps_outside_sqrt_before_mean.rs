//! id: rmsnorm-eps-outside-sqrt
//! function: RmsNorm::forward
//! says: eps is added to the mean, not to the sum.
        assert_eq!(x.shape().last(), self.weight.shape().first());
        let mut out = x.clone();
        let eps = self.eps;
        let _ = eps;
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let n = row.len() as f32;
            let squares = row.fold(0.0, |sum: f32, &v| sum + v * v);
            let _ = (n, squares);
            let scale = 1.0 / ((squares + eps) / n).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
