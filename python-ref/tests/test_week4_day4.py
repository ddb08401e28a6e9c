"""Week 4, day 4: a buffer against a bytearray, placements against all possible ones, and split graphs against PyTorch."""

import itertools

import numpy as np
import pytest
from live import close
from oracle.fixtures import relative_rounding
from oracle.week4_day4 import copies, fewest, pins, splits
from test_week4_day2 import build
from test_week4_day3 import computed, drawn


def nodes_of(graph, result, count):
    """Returns the nodes in the oracle's form. Nodes that the result does not need become unread leaves."""
    nodes = drawn(graph.dot(result))
    return [dict(zip(("op", "sources"), nodes.get(i, ("values", [])), strict=True)) for i in range(count)]


def small(week4, r):
    """Returns a random graph that is small enough to try all placements, and its values, result and nodes."""
    graph, known = build(week4, r)
    result = computed(graph, known)
    nodes = nodes_of(graph, result, result + 1)
    return graph, known, result, nodes


def padded(backends, graph, result):
    """Returns `backends` in the bridge's form: one per node of the graph, with `None` for -1 and for nodes after the last."""
    count = 1 + max(result, len(backends) - 1)
    while True:
        try:
            graph.layout(count)
        except ValueError:
            return [None if b < 0 else b for b in backends] + [None] * (count - len(backends))
        count += 1


def test_week4_day4_task_1_buffer(week4, r):
    cpu, size = week4.backends.Cpu(), 4 * r.size(1, 16)
    buffer, known = cpu.allocate(size), bytearray(size)
    cpu.upload(buffer, 0, bytes(size))
    for _ in range(20):
        offset, n = r.size(0, size + 4), r.size(0, 12)
        new = bytes(r.size(0, 255) for _ in range(n))
        if offset + n > size:
            for act in (lambda: cpu.upload(buffer, offset, new), lambda: cpu.download(buffer, offset, n)):
                with pytest.raises(ValueError, match="within that buffer's"):
                    act()
        else:
            cpu.upload(buffer, offset, new)
            known[offset : offset + n] = new
            assert bytes(cpu.download(buffer, offset, n)) == new
    assert bytes(cpu.download(buffer, 0, size)) == bytes(known)
    cpu.release(buffer)
    with pytest.raises(ValueError, match="no buffer"):
        cpu.download(buffer, 0, size)


def test_week4_day4_task_2_pin(week4, r):
    graph, _, result, nodes = small(week4, r)
    names = ("add", "mul_mat", "contiguous")
    lacks = [[name for name in names if r.choice(True, False)], [name for name in names if r.choice(True, False)]]
    if any(all(node["op"] in lack for lack in lacks) for node in nodes):
        with pytest.raises(ValueError, match="not supported by any of the backends twin, twin"):
            graph.pinned(result, lacks)
    else:
        assert graph.pinned(result, lacks) == padded(pins(nodes, lacks, {}, -1), graph, result)


def test_week4_day4_task_3_fewest_copies(week4, r):
    graph, _, result, nodes = small(week4, r)
    pinned = [r.choice(-1, -1, 0, 1) if node["op"] not in ("values", "reshape", "permute") else -1 for node in nodes]
    assert graph.fewest_copies(result, padded(pinned, graph, result)) == padded(fewest(nodes, pinned)[0], graph, result)


def test_week4_day4_task_4_results_are_independent_of_the_backends(week4, r):
    graph, known, result, nodes = small(week4, r)
    placed = [r.choice(0, 1, 2) if node["op"] not in ("values", "reshape", "permute") else -1 for node in nodes]
    found, seen = graph.on_twins(result, padded(placed, graph, result))
    size = max(1.0, *(value.abs().max().item() for value in known if value is not None))
    close(np.asarray(found) / size, known[result] / size, relative_rounding(2000)._replace(relative=False))
    assert sum(split[1] for split in seen) == len(copies(nodes, placed))
    # The oracle computes splits in the order of numbers, which may not be the graph's order.
    if graph.order(result) == sorted(graph.order(result)):
        assert seen == [(b, len(copied), len(run)) for b, copied, run in splits(nodes, placed)]


def test_week4_day4_task_5_weights(week4, r):
    file, alignment = bytes(r.size(0, 255) for _ in range(256)), r.choice(1, 4, 32, 64)
    for reads_host in (False, True):
        weights, seen, in_place, copied = week4.backends.Weights(file, reads_host, alignment), set(), 0, 0
        for _ in range(20):
            start = 16 * r.size(0, 12)
            n = 16 * r.size(1, 3)
            if start + n > len(file):
                with pytest.raises(ValueError, match="256 bytes"):
                    weights.place(start, n)
                continue
            here = reads_host and start % alignment == 0
            if (start, n) not in seen:
                in_place, copied = in_place + n * here, copied + n * (not here)
            seen.add((start, n))
            offset, there, *counted = weights.place(start, n)
            assert (offset, bytes(there), counted) == (start if here else 0, file[start : start + n], [in_place, copied])


def test_week4_day4_task_4_every_placement_of_one_graph(week4, r):
    graph = week4.graph.Graph()
    a = graph.values(r.integers(1, 1, 2, 3, high=5).float() - 2)
    b = graph.add(a, a)
    c = graph.mul_mat(b, graph.reshape(b, [3, 2]))
    d = graph.add(c, c)
    known = graph.compute(d)
    count = d + 1
    for places in itertools.product((0, 1, 2), repeat=3):
        placed = [None] * count
        for node, backend in zip((b, c, d), places, strict=True):
            placed[node] = backend
        found, seen = graph.on_twins(d, placed)
        assert (np.asarray(found) == np.asarray(known)).all()
        assert sum(split[1] for split in seen) == (places[0] != places[1]) + (places[1] != places[2])
