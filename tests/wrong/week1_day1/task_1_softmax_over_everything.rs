//! id: softmax-wrong-axis
//! function: softmax
//! says: You divide by the sum over the whole array: each row along the last axis has a sum of its own.
    let max = x.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    let e = x.mapv(|v| (v - max).exp());
    let sum = e.sum();
    e / sum
