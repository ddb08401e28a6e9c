//! function: overwritten
//! how: early returns
    let node = graph.node(life.node);
    let (&first, others) = node.sources.split_first()?;
    let root = graph.root(first);
    if !can_overwrite(&node.op) || others.iter().any(|&other| graph.root(other) == root) {
        return None;
    }
    lives.iter().any(|other| other.node == root && other.last == life.first).then_some(root)
