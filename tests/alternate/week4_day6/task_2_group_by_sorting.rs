//! function: group
//! how: a stable sort of the assignments by their experts
    assert!(chosen.iter().all(|&expert| expert < experts), "an expert of {experts}");
    let mut members: Vec<usize> = (0..chosen.len()).collect();
    members.sort_by_key(|&assignment| chosen[assignment]);
    let starts = (0..=experts)
        .map(|expert| chosen.iter().filter(|&&other| other < expert).count())
        .collect();
    Groups { starts, members }
