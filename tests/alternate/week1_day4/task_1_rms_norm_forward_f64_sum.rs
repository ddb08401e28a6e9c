//! function: RmsNorm::forward
//! how: see the name
        assert_eq!(x.shape().last(), self.weight.shape().first());
        let mut out = x.clone();
        let eps = self.eps;
        let _ = eps;
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let n = row.len() as f32;
            let squares = row.fold(0.0, |sum: f32, &v| sum + v * v);
            let _ = (n, squares);
            let scale = { let m = row.fold(0.0f64, |s, &v| s + f64::from(v) * f64::from(v)) / f64::from(n); (1.0 / (m + f64::from(eps)).sqrt()) as f32 };
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
