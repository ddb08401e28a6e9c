//! id: fit-degenerate
//! function: fit_scale_and_min
//! says: Where all codes are equal, scale and minimum are not determined, and you divided by a determinant that is 0 or rounding noise: the minimum is 0 then.
//! shows: task_3_fit/groups/minimum
let [mut w1, mut wx, mut wq, mut wqq, mut wqx] = [0f32; 5];
for ((x, w), q) in x.iter().zip(importance).zip(codes) {
    w1 += w;
    wx += w * x;
    wq += w * q;
    wqq += w * q * q;
    wqx += w * q * x;
}
let determinant = w1 * wqq - wq * wq;
let min = (wq * wqx - wqq * wx) / determinant;
if codes[0] == 0.0 && codes.iter().all(|&q| q == 0.0) || min >= 0.0 || min.is_nan() {
    return ScaleAndMin { scale: (w1 * wqx - wq * wx) / determinant, min };
}
ScaleAndMin { scale: wqx / wqq, min: 0.0 }
