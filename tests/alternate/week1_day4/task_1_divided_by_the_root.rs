//! function: RmsNorm::forward
//! how: each number divided by the root, with no reciprocal
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let mut out = x.clone();
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let squares: f32 = row.iter().map(|v| v * v).sum();
            let root = (squares / row.len() as f32 + self.eps).sqrt();
            for (v, w) in row.iter_mut().zip(&self.weight) {
                *v = *v / root * w;
            }
        }
        out
