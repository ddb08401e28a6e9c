//! id: rmsnorm-f16-accumulate
//! function: RmsNorm::forward
//! says: Accumulate in f32.
        assert_eq!(x.shape().last(), self.weight.shape().first());
        let mut out = x.clone();
        let eps = self.eps;
        let _ = eps;
        for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
            let n = row.len() as f32;
            let squares = row.fold(0.0, |sum: f32, &v| sum + v * v);
            let _ = (n, squares);
            let scale = { let f16 = |x: f32| f32::from_bits((x.to_bits() + 0x1000) & 0xffff_e000); let s = row.fold(0.0, |s: f32, &v| f16(s + f16(v * v))); 1.0 / (s / n + eps).sqrt() };
            row.mapv_inplace(|v| v * scale);
        }
        out * &self.weight
