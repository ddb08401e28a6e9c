//! function: take_turns
//! how: a stable sort by waiting time
    let mut order: Vec<usize> = (0..loads.len()).filter(|&i| loads[i].decoding).collect();
    order.sort_by_key(|&i| Reverse(loads[i].waited));
    for &i in order.iter().take(rows) {
        out[i] = 1;
    }
