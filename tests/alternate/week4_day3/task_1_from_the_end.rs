//! function: lifetimes
//! how: from the last step to the first: who is read for the first time, seen from the end
    let mut last: Vec<Option<usize>> = vec![None; graph.len()];
    for &result in results {
        last[graph.root(result).index()] = Some(order.len());
    }
    let mut lives = Vec::new();
    for (step, &id) in order.iter().enumerate().rev() {
        let node = graph.node(id);
        if !node.op.is_leaf() && !node.op.is_view() {
            let bytes = (node.layout.elements() * 4).div_ceil(ALIGNMENT) * ALIGNMENT;
            let last = last[id.index()].unwrap_or(step);
            lives.push(Lifetime { node: id, bytes, first: step, last });
        }
        for &source in &node.sources {
            last[graph.root(source).index()].get_or_insert(step);
        }
    }
    lives.reverse();
    lives
