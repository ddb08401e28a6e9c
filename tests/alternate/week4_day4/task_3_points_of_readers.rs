//! function: fewest_copies
//! how: only results that are read get copies, and points are numbered as they come
    let mut points = 2;
    let mut next = || {
        points += 1;
        points - 1
    };
    let computed: Vec<NodeId> = order
        .iter()
        .copied()
        .filter(|&id| !graph.node(id).op.is_leaf() && !graph.node(id).op.is_view())
        .collect();
    let mut point = vec![usize::MAX; graph.len()];
    for &id in &computed {
        point[id.index()] = next();
    }
    let mut edges = Vec::new();
    for &id in &computed {
        let node = point[id.index()];
        match pinned[id.index()] {
            Some(0) => edges.push((Network::FIRST, node, Network::NEVER)),
            Some(_) => edges.push((node, Network::LAST, Network::NEVER)),
            None => {}
        }
        let mut copies = None;
        for &reader in &computed {
            if graph.node(reader).sources.iter().any(|&source| graph.root(source) == id) {
                let (there, here) = *copies.get_or_insert_with(|| (next(), next()));
                edges.push((there, point[reader.index()], Network::NEVER));
                edges.push((point[reader.index()], here, Network::NEVER));
            }
        }
        if let Some((there, here)) = copies {
            edges.push((node, there, 1));
            edges.push((here, node, 1));
        }
    }
    let mut network = Network::new(points - 2);
    for (a, b, cost) in edges {
        network.edge(a, b, cost);
    }
    network.cheapest_cut();
    let last = network.on_the_last_side();
    let mut placed = vec![None; graph.len()];
    for id in computed {
        placed[id.index()] = Some(usize::from(last[point[id.index()]]));
    }
    placed
