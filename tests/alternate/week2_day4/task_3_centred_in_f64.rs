//! function: fit_scale_and_min
//! how: about the weighted means, in f64
let w: Vec<f64> = importance.iter().map(|&w| f64::from(w)).collect();
let total: f64 = w.iter().sum();
let mean = |values: &[f32; N]| values.iter().zip(&w).map(|(&v, w)| f64::from(v) * w).sum::<f64>() / total;
let (mx, mq) = (mean(x), mean(codes));
let (mut covariance, mut variance) = (0.0, 0.0);
for i in 0..N {
    let (dx, dq) = (f64::from(x[i]) - mx, f64::from(codes[i]) - mq);
    covariance += w[i] * dx * dq;
    variance += w[i] * dq * dq;
}
let scale = covariance / variance;
let min = scale * mq - mx;
if codes.iter().all(|q| q == &codes[0]) || min < 0.0 {
    let (mut qx, mut qq) = (0.0, 0.0);
    for i in 0..N {
        qx += w[i] * f64::from(codes[i]) * f64::from(x[i]);
        qq += w[i] * f64::from(codes[i]).powi(2);
    }
    return ScaleAndMin { scale: if qq == 0.0 { 0.0 } else { (qx / qq) as f32 }, min: 0.0 };
}
ScaleAndMin { scale: scale as f32, min: min as f32 }
