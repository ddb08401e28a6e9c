//! function: Made::here
//! how: asks what kind of node it is first, and looks it up for each
    let node = self.from.node(old);
    if node.op.is_leaf() {
        return match self.known.get(&(old, None)) {
            Some(&known) => Ok(known),
            None => self.push(old, node.op.clone(), &[], None),
        };
    }
    match self.known.get(&(old, Some(backend))) {
        Some(&known) => Ok(known),
        None if node.op.is_view() => {
            let source = self.here(node.sources[0], backend, copies)?;
            self.push(old, node.op.clone(), &[source], backend)
        }
        None => {
            let home = self.placed[old.index()];
            let source = self.known[&(old, home)];
            let copy = self.push(old, Op::Copy, &[source], backend)?;
            copies.push(copy);
            Ok(copy)
        }
    }
