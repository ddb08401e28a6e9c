//! function: draft_from_text
//! how: a loop over starts, keeping the longest match
    let len = tokens.len();
    let mut best: (usize, usize) = (0, 0);
    for at in (1..len).rev() {
        // How many tokens before `at` are the text's last ones.
        let mut n = 0;
        while n < longest && n < at && tokens[at - 1 - n] == tokens[len - 1 - n] {
            n += 1;
        }
        if n > best.0 {
            best = (n, at);
        }
    }
    let (n, at) = best;
    if n == 0 { &[] } else { &tokens[at..at.saturating_add(k).min(len)] }
