//! id: unseen
//! function: RmsNorm::forward
//! says: rows in memory order
        let n = self.weight.len();
        assert_eq!(x.shape().last(), Some(&n));
        let mut out = x.clone();
        for row in out.as_slice_memory_order_mut().unwrap().chunks_mut(n) {
            let ms = row.iter().map(|v| v * v).sum::<f32>() / n as f32;
            let s = 1.0 / (ms + self.eps).sqrt();
            row.iter_mut().for_each(|v| *v *= s);
        }
        out * &self.weight
