//! function: residual
//! how: a loop in f32 differences, the sum on the way
    let mut left = Vec::with_capacity(p.len());
    let mut sum = 0.0;
    for i in 0..p.len() {
        let more = if p[i] > q[i] { f64::from(p[i] - q[i]) } else { 0.0 };
        sum += more;
        left.push(more);
    }
    if sum > 0.0 {
        left.iter_mut().for_each(|x| *x /= sum);
        left
    } else {
        p.iter().map(|&x| x.into()).collect()
    }
