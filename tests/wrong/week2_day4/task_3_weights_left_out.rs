//! id: fit-without-weights
//! function: fit_scale_and_min
//! says: Every weight counts alike in your fit: each term of the five sums is to be multiplied by its importance.
let [mut w1, mut wx, mut wq, mut wqq, mut wqx] = [0f32; 5];
for ((x, _), q) in x.iter().zip(importance).zip(codes) {
    let w = 1.0;
    w1 += w;
    wx += w * x;
    wq += w * q;
    wqq += w * q * q;
    wqx += w * q * x;
}
// Both derivatives are 0: scale·wqq − min·wq = wqx and scale·wq − min·w1 = wx.
let determinant = w1 * wqq - wq * wq;
if determinant > 0.0 && codes.iter().any(|&q| q != codes[0]) {
    let min = (wq * wqx - wqq * wx) / determinant;
    if min >= 0.0 {
        return ScaleAndMin { scale: (w1 * wqx - wq * wx) / determinant, min };
    }
}
ScaleAndMin { scale: if wqq > 0.0 { wqx / wqq } else { 0.0 }, min: 0.0 }
