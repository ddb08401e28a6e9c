//! function: dot
//! how: a list of lines, joined
    let mut lines = vec!["digraph model {".to_owned(), "rankdir=TB".to_owned()];
    for &id in order {
        let node = graph.node(id);
        let label = [node.op.name(), &node.name, &node.layout.to_string()];
        let label = label.map(|part| part.replace('\\', "\\\\").replace('"', "\\\"")).join("\\n");
        let fill = ["", ", fontcolor=red, color=red"][usize::from(node.op.is_leaf())];
        lines.push(format!("n{} [label=\"{label}\"{fill}]", id.index()));
    }
    for (id, source) in
        order.iter().flat_map(|&id| graph.node(id).sources.iter().map(move |source| (id, source)))
    {
        lines.push(format!("n{} -> n{}", source.index(), id.index()));
    }
    lines.push("}".to_owned());
    lines.join("\n") + "\n"
