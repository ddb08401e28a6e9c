//! function: lower_bound
//! how: what begins and what ends, sorted by step
    let mut events = Vec::new();
    for life in lifetimes {
        events.push((life.first, true, life.bytes));
        events.push((life.last + 1, false, life.bytes));
    }
    events.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, begins, bytes) in events {
        if begins {
            now += bytes;
        } else {
            now -= bytes;
        }
        most = most.max(now);
    }
    most
