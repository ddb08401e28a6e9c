//! function: softmax
//! how: see the name
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        
        let (mut m, mut l) = (f32::NEG_INFINITY, 0.0f32);
        for &v in row.iter() {
            if v == f32::NEG_INFINITY { continue; }
            let new = m.max(v);
            l = l * (m - new).exp() + (v - new).exp();
            m = new;
        }
        row.mapv_inplace(|v| if l == 0.0 { 0.0 } else { (v - m).exp() / l });
    }
    out
