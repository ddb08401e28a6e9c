//! id: min-sign
//! function: fit_scale_and_min
//! says: The sign of the minimum is the other one: it is subtracted, so a group about −2 has a minimum of about 2.
let [mut w1, mut wx, mut wq, mut wqq, mut wqx] = [0f32; 5];
for ((x, w), q) in x.iter().zip(importance).zip(codes) {
    w1 += w;
    wx += w * x;
    wq += w * q;
    wqq += w * q * q;
    wqx += w * q * x;
}
// Both derivatives are 0: scale·wqq − min·wq = wqx and scale·wq − min·w1 = wx.
let determinant = w1 * wqq - wq * wq;
if determinant > 0.0 && codes.iter().any(|&q| q != codes[0]) {
    let min = (wqq * wx - wq * wqx) / determinant;
    if min >= 0.0 {
        return ScaleAndMin { scale: (w1 * wqx - wq * wx) / determinant, min };
    }
}
ScaleAndMin { scale: if wqq > 0.0 { wqx / wqq } else { 0.0 }, min: 0.0 }
