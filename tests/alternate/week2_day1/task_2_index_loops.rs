//! function: attend_two_pass
//! how: loops over indices, weights normalised at the end
let heads = q.len() / head_dim;
for head in 0..heads {
    let q = &q[head * head_dim..(head + 1) * head_dim];
    let scores: Vec<f32> = runs().flat_map(|run| (0..run.len).map(move |i| scale * dot(q, run.keys, i))).collect();
    let mut max = f32::MIN;
    for score in &scores {
        max = max.max(*score);
    }
    let mut sum = vec![0.0; head_dim];
    let (mut total, mut at) = (0.0, 0);
    for run in runs() {
        for i in 0..run.len {
            let weight = (scores[at] - max).exp();
            total += weight;
            add_scaled(&mut sum, weight, run.values, i);
            at += 1;
        }
    }
    for d in 0..head_dim {
        out[head * head_dim + d] = sum[d] / total;
    }
}
