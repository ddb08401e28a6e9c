//! id: rmsnorm-square-of-sum
//! function: RmsNorm::forward
//! says: You take the sum of squares for their mean: divide it by E before you add eps.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + v * v);
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
