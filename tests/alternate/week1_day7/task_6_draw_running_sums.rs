//! function: draw
//! how: all running sums first, then a binary search
    let probabilities = probabilities(logits);
    let mut sum = 0.0;
    let sums: Vec<f64> = probabilities
        .iter()
        .map(|&probability| {
            sum += f64::from(probability);
            sum
        })
        .collect();
    let last = probabilities.iter().rposition(|&probability| probability > 0.0).expect("a token that is not ruled out");
    sums.partition_point(|&sum| sum <= uniform).min(last) as u32
