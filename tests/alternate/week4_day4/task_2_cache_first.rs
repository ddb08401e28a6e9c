//! function: pin
//! how: first who has the cache, then node by node
    let able = |id: NodeId| -> Result<Vec<usize>> {
        let all = (0..backends.len()).filter(|&b| backends[b].supports(graph, id));
        let all: Vec<usize> = all.collect();
        anyhow::ensure!(!all.is_empty(), unsupported(graph, id, backends));
        Ok(all)
    };
    let mut keepers: Vec<usize> = (0..backends.len()).collect();
    for &id in order {
        if touches_cache(&graph.node(id).op) {
            let able = able(id)?;
            keepers.retain(|keeper| able.contains(keeper));
            anyhow::ensure!(!keepers.is_empty(), unsupported(graph, id, backends));
        }
    }
    let keeper = match wishes.cache {
        Some(wished) if keepers.contains(&wished) => wished,
        _ => keepers[0],
    };
    let mut pinned = vec![None; graph.len()];
    for &id in order {
        let node = graph.node(id);
        if node.op.is_leaf() || node.op.is_view() {
            continue;
        }
        let able = able(id)?;
        let roots = node.sources.iter().map(|&source| graph.root(source));
        let weight = roots.into_iter().find(|&root| matches!(graph.node(root).op, Op::Weight(_)));
        pinned[id.index()] = if touches_cache(&node.op) {
            Some(keeper)
        } else if let Some(weight) = weight {
            let home = wishes.homes.iter().find(|home| home.0 == weight).map(|home| home.1);
            Some(home.filter(|home| able.contains(home)).unwrap_or(able[0]))
        } else {
            (able.len() == 1).then(|| able[0])
        };
    }
    Ok(pinned)
