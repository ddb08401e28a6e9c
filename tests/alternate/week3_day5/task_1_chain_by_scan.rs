//! function: chain
//! how: scan over whole pages counted first
    let full = tokens.len() / page_len;
    (0..full)
        .scan(fingerprint, |name, i| {
            *name = hash(*name, &tokens[i * page_len..(i + 1) * page_len]);
            Some(*name)
        })
        .collect()
