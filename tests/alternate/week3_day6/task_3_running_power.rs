//! function: best_length
//! how: tokens added up with each further draft
    let mut tokens = 1.0;
    let mut power = 1.0;
    let mut best = (0, 1.0);
    for k in 1..=max {
        power *= rate;
        tokens += power;
        let speed = tokens / (1.0 + (costs.row + costs.draft) * k as f64);
        if speed > best.1 {
            best = (k, speed);
        }
    }
    best.0
