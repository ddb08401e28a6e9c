"""Week 4, day 3: lifetimes of random graphs, an arena against a list of bytes, and planned graphs against PyTorch."""

import numpy as np
from live import close
from oracle.fixtures import relative_rounding
from oracle.week4_day3 import Bytes, aligned
from test_week4_day2 import build


def drawn(text):
    """Returns the operation and the sources of each node in a `dot` text, by number."""
    nodes = {}
    for line in map(str.strip, text.splitlines()):
        if "->" in line:
            source, node = (int(part[1:]) for part in line.strip(";").split(" -> "))
            nodes[node][1].append(source)
        elif "label=" in line:
            nodes[int(line[1:].split(" ")[0])] = (line.split('"')[1].split("\\n")[0], [])
    return nodes


def root(nodes, i):
    return root(nodes, nodes[i][1][0]) if nodes[i][0] in ("reshape", "permute") else i


def computed(graph, known):
    """Returns the last node that must be computed, or adds one."""
    for node in reversed(range(len(known))):
        nodes = drawn(graph.dot(node)) if known[node] is not None else {node: ("values", [])}
        if nodes[root(nodes, node)][0] != "values":
            return node
    known.append(2 * known[0])
    return graph.add(0, 0)


def test_week4_day3_task_1_lifetimes(week4, r):
    graph, known = build(week4, r)
    result = computed(graph, known)
    nodes, order = drawn(graph.dot(result)), graph.order(result)
    expected = []
    for first, i in enumerate(order):
        if nodes[i][0] in ("values", "reshape", "permute"):
            continue
        readers = [step for step, j in enumerate(order) if i in (root(nodes, source) for source in nodes[j][1])]
        readers += [len(order)] if i == root(nodes, result) else []
        elements = np.prod(graph.layout(i).ne).item()
        expected.append([i, aligned(elements), first, max(readers, default=first)])
    assert graph.lifetimes(result) == expected


def test_week4_day3_task_2_arena(week4, r):
    arena, known, lent = week4.arena.Arena(), Bytes(), []
    for _ in range(60):
        if lent and r.choice(True, False):
            start, n = lent.pop(r.size(0, len(lent) - 1))
            arena.release(start, n)
            known.release(start, n)
        else:
            n = 64 * r.size(1, 8)
            start = arena.allocate(n)
            assert start == known.allocate(n)
            lent.append((start, n))
        assert arena.free_parts() == [(64 * a, 64 * b) for a, b in known.gaps()]
        assert arena.peak() == 64 * known.peak


def test_week4_day3_task_3_planned_graphs(week4, r):
    graph, known = build(week4, r)
    result = computed(graph, known)
    expected = known[result]
    size = max(1.0, *(value.abs().max().item() for value in known if value is not None))
    for in_place in (False, True):
        found, peak, bound = graph.planned(result, in_place)
        close(np.asarray(found) / size, expected / size, relative_rounding(2000)._replace(relative=False))
        assert in_place or bound <= peak <= 2 * bound
