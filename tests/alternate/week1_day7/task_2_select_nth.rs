//! function: top_k
//! how: a selection instead of a sort, by logit and then id
    if k == 0 || k >= logits.len() {
        return;
    }
    let mut ids: Vec<usize> = (0..logits.len()).collect();
    let (.., rest) = {
        let row = &*logits;
        ids.select_nth_unstable_by(k - 1, |&a, &b| row[b].partial_cmp(&row[a]).expect("no NaN").then(a.cmp(&b)))
    };
    for &mut token in rest {
        logits[token] = f32::NEG_INFINITY;
    }
