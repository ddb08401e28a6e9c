//! id: rmsnorm-width
//! function: RmsNorm::forward
//! says: You accept a weight of another width; that must be refused, as the doc comment says, since one number would broadcast.
//! shows: with a weight [1], which has another width: this must panic
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let mean_square = row.fold(0.0, |sum: f32, &v| sum + v * v) / row.len() as f32;
            let scale = 1.0 / (mean_square + self.eps).sqrt();
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
