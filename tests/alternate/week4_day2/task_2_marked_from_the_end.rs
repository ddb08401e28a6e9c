//! function: Graph::order
//! how: marks what is needed, from the youngest node to the oldest
        let mut needed = vec![false; self.len()];
        for result in results {
            needed[result.index()] = true;
        }
        let ids: Vec<NodeId> = self.ids().collect();
        for &id in ids.iter().rev().filter(|id| id.index() < self.len()) {
            if needed[id.index()] {
                for source in &self.node(id).sources {
                    needed[source.index()] = true;
                }
            }
        }
        ids.into_iter().filter(|id| needed[id.index()]).collect()
