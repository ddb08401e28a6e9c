//! id: rmsnorm-eps-outside-sqrt
//! function: RmsNorm::forward
//! says: You add eps to the sum of squares, where it is divided by E; it belongs to the mean.
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = (row.fold(0.0, |sum: f32, &v| sum + v * v) + self.eps) / row.len() as f32;
            let scale = 1.0 / mean_square.sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
