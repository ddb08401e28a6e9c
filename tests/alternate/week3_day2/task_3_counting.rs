//! function: quantile
//! how: by the definition: the first value that enough of them do not exceed
    values.sort_unstable();
    let enough = (q * values.len() as f64).max(1.0);
    values
        .iter()
        .copied()
        .find(|value| values.iter().filter(|other| *other <= value).count() as f64 >= enough)
