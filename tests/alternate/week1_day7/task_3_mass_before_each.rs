//! function: top_p
//! how: a table of the mass before each rank, and then one look at it for each
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let order = descending(logits);
    let masses: Vec<f64> = order
        .iter()
        .scan(0.0, |mass, &token| {
            let before = *mass;
            *mass += f64::from(probabilities[token]);
            Some(before)
        })
        .collect();
    for (&token, before) in order.iter().zip(masses).skip(1) {
        if before >= f64::from(p) {
            logits[token] = f32::NEG_INFINITY;
        }
    }
