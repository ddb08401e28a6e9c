//! function: share_prompts
//! how: row by row, to the first prompt that can still use one
    for _ in 0..rows {
        let next = (0..loads.len()).find(|&i| !loads[i].decoding && out[i] < loads[i].left);
        if let Some(i) = next {
            out[i] += 1;
        }
    }
