//! function: verify
//! how: counts how many are kept first, then draws once
    let mut accepted = 0;
    let mut p = target(0);
    let mut refused = false;
    while accepted < drafts.len() && !refused {
        let Draft { token, q } = &drafts[accepted];
        let at = *token as usize;
        if accepts(p[at], q[at], rng.uniform()) {
            accepted += 1;
            p = target(accepted);
        } else {
            refused = true;
        }
    }
    let weights = if refused {
        residual(&p, &drafts[accepted].q)
    } else {
        p.iter().map(|&x| f64::from(x)).collect()
    };
    Verdict { accepted, next: draw_weighted(&weights, rng.uniform()) }
