//! function: join
//! how: the one with the smaller maximum is scaled down
        if part.total == 0.0 {
            return;
        }
        if part.max > softmax.max {
            let factor = (softmax.max - part.max).exp();
            softmax.total = softmax.total * factor + part.total;
            softmax.max = part.max;
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = *sum * factor + values[i];
            }
        } else {
            let factor = (part.max - softmax.max).exp();
            softmax.total += part.total * factor;
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += values[i] * factor;
            }
        }
