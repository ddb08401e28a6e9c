//! id: rmsnorm-wrong-axis
//! function: RmsNorm::forward
//! says: You divide all rows by one number: each row of E numbers is divided by its own root mean square.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        let mean_square = x.fold(0.0, |sum: f32, &v| sum + v * v) / x.len() as f32;
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
